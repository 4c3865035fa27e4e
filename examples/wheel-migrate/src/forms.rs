//! Files of forms, as they are before and after: a blank line ends each.

/// Lines that begin with `-` are what is before, with `+` what is after; other lines are in both,
/// indented. What is told of a form follows another sign.
pub(crate) struct Form {
    pub(crate) before: String,
    pub(crate) after: String,
    told: Vec<(char, &'static str)>,
}

impl Form {
    pub(crate) fn all(text: &'static str) -> impl Iterator<Item = Form> {
        text.split("\n\n").map(|lines| {
            let (mut before, mut after, mut told) = (Vec::new(), Vec::new(), Vec::new());
            for line in lines.lines() {
                let sign = line.chars().next().unwrap_or_default();
                let line = line.get(2..).unwrap_or_default();
                match sign {
                    '-' => before.push(line),
                    '+' => after.push(line),
                    ' ' => {
                        before.push(line);
                        after.push(line);
                    }
                    sign => told.push((sign, line)),
                }
            }
            let (before, after) = (before.join("\n"), after.join("\n"));
            Form {
                before,
                after,
                told,
            }
        })
    }

    pub(crate) fn told(&self, sign: char) -> Vec<&'static str> {
        let told = self.told.iter().filter(|(other, _)| *other == sign);
        told.map(|(_, line)| *line).collect()
    }
}
