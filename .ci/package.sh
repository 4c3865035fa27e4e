# shellcheck shell=bash
# Sourced by the scripts beside this file.

# Makes cargo download a published package, and prints its directory. Needs $target.
package() { # NAME VERSION
    local scratch=${target:?}/fetch-$1
    mkdir -p "$scratch"
    printf '[package]\nname = "fetch"\nedition = "2021"\n[lib]\npath = "lib.rs"\n[dependencies]\n%s = "=%s"\n[workspace]\n' \
        "$1" "$2" >"$scratch/Cargo.toml"
    : >"$scratch/lib.rs"
    cargo metadata --quiet --format-version 1 --manifest-path "$scratch/Cargo.toml" |
        grep -o "\"manifest_path\":\"[^\"]*/$1-$2/Cargo.toml\"" | sed 's/.*:"//; s,/Cargo.toml"$,,' | head -n 1
}
