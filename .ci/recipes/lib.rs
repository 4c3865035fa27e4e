#![doc = include_str!("../../src/docs/recipes.md")]
