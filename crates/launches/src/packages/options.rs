//! Parses the options of a launcher, which precede the package.

use super::UnknownPackage;

/// The options of a launcher that the parser knows, each written with its dashes as on the command line.
pub(super) struct LauncherOptions {
    /// Names of the launcher's options without a value.
    pub(super) flags: &'static [&'static str],
    /// Names of the launcher's options with a value, which follows after `=` or as the next argument.
    pub(super) valued: &'static [&'static str],
}

/// An option on a launcher's command line, with its value.
pub(super) struct OptionWithValue<'a> {
    pub(super) option: &'a str,
    pub(super) value: &'a str,
    /// Index of the command-line argument that contains the value.
    pub(super) at: usize,
    /// Text before the value in the argument that contains it.
    pub(super) prefix: &'a str,
}

/// The options at the beginning of a launcher's command line, before the first other argument.
pub(super) struct ParsedOptions<'a> {
    /// Names of the options without a value, in the order of the command line.
    pub(super) flags: Vec<&'a str>,
    /// Options with their values, in the order of the command line.
    pub(super) values: Vec<OptionWithValue<'a>>,
    /// Index of the first argument that is not an option.
    pub(super) first: usize,
}

impl LauncherOptions {
    /// Parses the options of a launcher that start at the index `from` of its arguments.
    ///
    /// # Errors
    /// Returns [`UnknownPackage::Option`] for an unknown option, because the next argument may be its value.
    pub(super) fn parse<'a>(&self, args: &'a [String], from: usize) -> Result<ParsedOptions<'a>, UnknownPackage> {
        let mut read = ParsedOptions { flags: Vec::new(), values: Vec::new(), first: from };
        while let Some(argument) = args.get(read.first).map(String::as_str) {
            if argument == "--" {
                read.first += 1;
                break;
            }
            if !argument.starts_with('-') || argument == "-" {
                break;
            }
            if argument.starts_with("--") || argument.len() == 2 {
                self.parse_option(args, argument, &mut read)?;
            } else {
                self.parse_short_flags(args, argument, &mut read)?;
            }
            read.first += 1;
        }
        Ok(read)
    }

    fn parse_option<'a>(
        &self,
        args: &'a [String],
        argument: &'a str,
        read: &mut ParsedOptions<'a>,
    ) -> Result<(), UnknownPackage> {
        let (option, attached) = match argument.find('=') {
            Some(at) => (&argument[..at], Some(&argument[at + 1..])),
            None => (argument, None),
        };
        if self.flags.contains(&option) {
            // `--flag=false` clears a flag, so a flag with a value is ignored.
            if attached.is_none() {
                read.flags.push(option);
            }
            return Ok(());
        }
        if !self.valued.contains(&option) {
            return Err(UnknownPackage::Option(option.to_owned()));
        }
        self.take_value(args, option, attached.map(|value| (value, &argument[..=option.len()])), read);
        Ok(())
    }

    /// Parses several letters after one dash: flags, and possibly one option with a value at the end.
    fn parse_short_flags<'a>(
        &self,
        args: &'a [String],
        argument: &'a str,
        read: &mut ParsedOptions<'a>,
    ) -> Result<(), UnknownPackage> {
        let unknown = || UnknownPackage::Option(argument.chars().take_while(|c| *c != '=').collect());
        for (at, letter) in argument.char_indices().skip(1) {
            let is_same = |option: &&&str| option.strip_prefix('-').is_some_and(|rest| rest.chars().eq([letter]));
            if let Some(flag) = self.flags.iter().find(is_same) {
                read.flags.push(flag);
                continue;
            }
            let option = self.valued.iter().find(is_same).ok_or_else(unknown)?;
            let rest = at + letter.len_utf8();
            let attached = Some((&argument[rest..], &argument[..rest])).filter(|(value, _)| !value.is_empty());
            let attached = attached.map(|(value, prefix)| match value.strip_prefix('=') {
                Some(value) => (value, &argument[..=prefix.len()]),
                None => (value, prefix),
            });
            self.take_value(args, option, attached, read);
            return Ok(());
        }
        Ok(())
    }

    fn take_value<'a>(
        &self,
        args: &'a [String],
        option: &'a str,
        attached: Option<(&'a str, &'a str)>,
        read: &mut ParsedOptions<'a>,
    ) {
        let (value, prefix) = attached.unwrap_or_else(|| {
            read.first += 1;
            (args.get(read.first).map_or("", String::as_str), "")
        });
        read.values.push(OptionWithValue { option, value, at: read.first, prefix });
    }
}
