//! What of a request a wire carries, and the request as it is carried.

use crate::{Conversion, Conversions, Loss, Message, ModelError, Part, Request, Role, ToolChoice, Uncarried};

/// What a wire carries as it is.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Carries {
    /// Media types of pictures.
    pub(crate) images: &'static [&'static str],
    /// Media types of recordings.
    pub(crate) audio: &'static [&'static str],
    /// Media types of files; `*` for all.
    pub(crate) files: &'static [&'static str],
    /// Whether results of tools may have pictures.
    pub(crate) images_in_results: bool,
    /// Whether results of tools may have files.
    pub(crate) files_in_results: bool,
    /// Whether it is said that a tool failed.
    pub(crate) tool_error: bool,
    /// Whether it can be said that a tool must be used.
    pub(crate) tool_required: bool,
    /// The most texts that end an answer.
    pub(crate) stops: usize,
    /// Whether a temperature may be given.
    pub(crate) temperature: Temperature,
    /// Whether the model may be told to think where it has tools.
    pub(crate) thinking_with_tools: bool,
}

/// Whether a temperature may be given.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Temperature {
    Always,
    WithoutThinking,
    Never,
}

/// Beyond how many texts that end an answer nobody goes.
const MANY_STOPS: usize = 8;

/// Pictures that every provider takes that takes any.
pub(crate) const PICTURES: &[&str] = &["image/png", "image/jpeg", "image/gif", "image/webp"];

impl Carries {
    fn takes(types: &[&str], mime: &str) -> bool {
        types.iter().any(|own| *own == "*" || own.eq_ignore_ascii_case(mime))
    }

    /// What about a part in a message itself.
    fn in_message(&self, part: &Part) -> Option<Uncarried> {
        match part {
            Part::Image { mime, .. } if !Self::takes(self.images, mime) => Some(Uncarried::Image),
            Part::Audio { mime, .. } if !Self::takes(self.audio, mime) => Some(Uncarried::Audio),
            Part::File { mime, .. } if !Self::takes(self.files, mime) => Some(Uncarried::File),
            _ => None,
        }
    }

    /// What about a part in a tool's result.
    fn in_result(&self, part: &Part) -> Option<Uncarried> {
        match part {
            Part::Image { mime, .. } if !(self.images_in_results && Self::takes(self.images, mime)) => {
                Some(Uncarried::ImageInToolResult)
            }
            Part::Audio { .. } => Some(Uncarried::AudioInToolResult),
            Part::File { mime, .. } if !(self.files_in_results && Self::takes(self.files, mime)) => {
                Some(Uncarried::FileInToolResult)
            }
            _ => None,
        }
    }

    /// All that it does not carry, or not always.
    pub(crate) fn never(&self) -> Vec<Uncarried> {
        [
            (Uncarried::ImageInToolResult, !self.images_in_results),
            (Uncarried::AudioInToolResult, true),
            (Uncarried::FileInToolResult, !self.files_in_results),
            (Uncarried::ToolError, !self.tool_error),
            (Uncarried::Audio, true),
            (Uncarried::File, true),
            (Uncarried::ToolRequired, !self.tool_required),
            (Uncarried::Stop, self.stops < MANY_STOPS),
            (Uncarried::Temperature, self.temperature != Temperature::Always),
            (Uncarried::ThinkingWithTools, !self.thinking_with_tools),
        ]
        .into_iter()
        .filter_map(|(what, is_lost)| is_lost.then_some(what))
        .collect()
    }

    /// What can't be carried, each once.
    pub(crate) fn losses(&self, request: &Request, conversions: &Conversions) -> Vec<Loss> {
        let mut found: Vec<Uncarried> = Vec::new();
        let mut note = |what: Option<Uncarried>| {
            if let Some(what) = what
                && !found.contains(&what)
            {
                found.push(what);
            }
        };
        note((request.tool_choice == ToolChoice::Required && !self.tool_required).then_some(Uncarried::ToolRequired));
        note((request.stop.len() > self.stops).then_some(Uncarried::Stop));
        let takes_temperature = match self.temperature {
            Temperature::Always => true,
            Temperature::WithoutThinking => !request.thinking,
            Temperature::Never => false,
        };
        note((request.temperature.is_some() && !takes_temperature).then_some(Uncarried::Temperature));
        let thinks_with_tools = request.thinking && !request.tools.is_empty();
        note((thinks_with_tools && !self.thinking_with_tools).then_some(Uncarried::ThinkingWithTools));
        for part in request.messages.iter().flat_map(|message| &message.parts) {
            note(self.in_message(part));
            let Part::ToolResult { parts, is_error, .. } = part else { continue };
            note((*is_error && !self.tool_error).then_some(Uncarried::ToolError));
            for part in parts {
                let what = self.in_result(part);
                note(what);
                // What is sent after has to be carried there.
                if what.is_some_and(|what| conversions.of(what).then == Conversion::SendAfter) {
                    note(self.in_message(part));
                }
            }
        }
        found.into_iter().map(|what| conversions.of(what)).collect()
    }

    /// The request as it is carried.
    ///
    /// # Errors
    /// If something can't be carried and the user did not choose what is done about it.
    pub(crate) fn convert(&self, request: Request, conversions: &Conversions) -> Result<Request, ModelError> {
        let losses = self.losses(&request, conversions);
        if let Some(refused) = losses.iter().find(|loss| loss.then == Conversion::Refuse) {
            return Err(ModelError::CannotCarry(*refused));
        }
        if losses.is_empty() {
            return Ok(request);
        }
        let mut request = request;
        if losses.iter().any(|loss| loss.what == Uncarried::ToolRequired) {
            request.tool_choice = ToolChoice::Auto;
        }
        if losses.iter().any(|loss| loss.what == Uncarried::Temperature) {
            request.temperature = None;
        }
        if losses.iter().any(|loss| loss.what == Uncarried::ThinkingWithTools) {
            request.thinking = false;
        }
        request.stop.truncate(self.stops);
        request.messages = request.messages.into_iter().map(|message| self.message(message, conversions)).collect();
        Ok(request)
    }

    fn message(&self, message: Message, conversions: &Conversions) -> Message {
        let Message { role, parts } = message;
        let mut after = Vec::new();
        let mut parts: Vec<Part> =
            parts.into_iter().map(|part| self.part(part, role, conversions, &mut after)).collect();
        parts.append(&mut after);
        Message { role, parts }
    }

    fn part(&self, part: Part, role: Role, conversions: &Conversions, after: &mut Vec<Part>) -> Part {
        if self.in_message(&part).is_some() {
            return left_out(&part);
        }
        let Part::ToolResult { id, name, parts, is_error } = part else { return part };
        let mut own = Vec::with_capacity(parts.len());
        if is_error && !self.tool_error {
            own.push(Part::text("The tool failed. It says:"));
        }
        for part in parts {
            match self.in_result(&part).map(|what| conversions.of(what).then) {
                None => own.push(part),
                Some(Conversion::SendAfter) if role == Role::User => {
                    own.push(Part::text(format!("[{} follows after the results of the tools]", kind_of(&part))));
                    after.push(Part::text(format!("[{} from the result of the tool {name}]", kind_of(&part))));
                    let is_carried = self.in_message(&part).is_none();
                    after.push(if is_carried { part } else { left_out(&part) });
                }
                Some(_) => own.push(left_out(&part)),
            }
        }
        Part::ToolResult { id, name, parts: own, is_error }
    }
}

fn left_out(part: &Part) -> Part {
    Part::text(format!("[{} was left out: it can't be sent to this model]", kind_of(part)))
}

fn kind_of(part: &Part) -> String {
    match part {
        Part::Image { mime, .. } => format!("a picture ({mime})"),
        Part::Audio { mime, .. } => format!("a recording ({mime})"),
        Part::File { name, mime, .. } => format!("the file {name} ({mime})"),
        Part::Text(_) | Part::Thinking { .. } | Part::ToolUse { .. } | Part::ToolResult { .. } => "a part".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use bytes::Bytes;

    use super::*;
    use crate::Tool;

    const PLAIN: Carries = Carries {
        images: PICTURES,
        audio: &[],
        files: &[],
        images_in_results: false,
        files_in_results: false,
        tool_error: false,
        tool_required: false,
        stops: 1,
        temperature: Temperature::WithoutThinking,
        thinking_with_tools: false,
    };

    fn image(mime: &str) -> Part {
        Part::Image { mime: mime.into(), data: Bytes::from_static(b"x") }
    }

    fn with(parts: Vec<Part>) -> Request {
        Request { messages: vec![Message { role: Role::User, parts }], ..Request::default() }
    }

    fn result(parts: Vec<Part>, is_error: bool) -> Part {
        Part::ToolResult { id: "1".into(), name: "look".into(), parts, is_error }
    }

    #[test]
    fn what_would_lose_something_is_refused_until_the_user_chose() {
        let request = with(vec![Part::Audio { mime: "audio/wav".into(), data: Bytes::new() }]);
        let refused = PLAIN.convert(request.clone(), &Conversions::default());
        let loss = Loss { what: Uncarried::Audio, then: Conversion::Refuse };
        assert_eq!(refused, Err(ModelError::CannotCarry(loss)), "nothing is dropped in silence");
        let chosen = Conversions([(Uncarried::Audio, Conversion::LeaveOut)].into());
        let sent = PLAIN.convert(request, &chosen).unwrap();
        let text = sent.messages[0].plain_text();
        assert!(text.contains("a recording (audio/wav) was left out"), "what is left out is said in its place: {text}");
    }

    #[test]
    fn pictures_of_results_are_sent_after_all_of_them() {
        let request =
            with(vec![result(vec![Part::text("a"), image("image/png")], false), result(vec![Part::text("b")], true)]);
        let losses = PLAIN.losses(&request, &Conversions::default());
        let wanted = [
            Loss { what: Uncarried::ImageInToolResult, then: Conversion::SendAfter },
            Loss { what: Uncarried::ToolError, then: Conversion::SayInText },
        ];
        assert_eq!(losses, wanted, "both are told before they are sent");
        let sent = PLAIN.convert(request, &Conversions::default()).unwrap();
        let parts = &sent.messages[0].parts;
        assert!(matches!(parts[1], Part::ToolResult { .. }), "results stay together: {parts:?}");
        assert_eq!(parts[3], image("image/png"), "the picture comes last, after a text that says from where");
        let Part::ToolResult { parts: failed, .. } = &parts[1] else { unreachable!() };
        assert_eq!(failed[0], Part::text("The tool failed. It says:"), "a failure is said in words");
    }

    #[test]
    fn a_picture_that_can_be_sent_nowhere_is_refused() {
        let request = with(vec![result(vec![image("image/tiff")], false)]);
        let refused = PLAIN.convert(request, &Conversions::default());
        let loss = Loss { what: Uncarried::Image, then: Conversion::Refuse };
        assert_eq!(refused, Err(ModelError::CannotCarry(loss)), "sending it after would not help");
    }

    #[test]
    fn a_choice_that_makes_no_sense_is_not_one() {
        let chosen = Conversions([(Uncarried::Audio, Conversion::SayInText)].into());
        assert_eq!(chosen.of(Uncarried::Audio).then, Conversion::Refuse, "a recording can't be said in words");
    }

    #[test]
    fn more_ends_than_it_takes_are_told() {
        let request = Request { stop: vec!["a".into(), "b".into()], ..with(vec![Part::text("x")]) };
        let losses = PLAIN.losses(&request, &Conversions::default());
        assert_eq!(losses, [Loss { what: Uncarried::Stop, then: Conversion::Refuse }], "two where one is taken");
    }

    #[test]
    fn how_to_answer_is_carried_as_far_as_the_model_takes_it() {
        let tool = Tool { name: "look".into(), description: None, input_schema: serde_json::json!({}) };
        let hot = Request { temperature: Some(0.5), ..with(vec![Part::text("x")]) };
        let thinking = Request { thinking: true, ..hot.clone() };
        let both = Request { tools: vec![tool], ..thinking.clone() };
        let never = Carries { temperature: Temperature::Never, ..PLAIN };
        let temperature = Loss { what: Uncarried::Temperature, then: Conversion::LeaveOut };
        let thought = Loss { what: Uncarried::ThinkingWithTools, then: Conversion::LeaveOut };
        let cases = [
            (PLAIN, hot.clone(), vec![], (Some(0.5), false)),
            (PLAIN, thinking, vec![temperature], (None, true)),
            (never, hot, vec![temperature], (None, false)),
            (never, both, vec![temperature, thought], (None, false)),
        ];
        for (carries, request, losses, wanted) in cases {
            assert_eq!(carries.losses(&request, &Conversions::default()), losses, "what is left out is told");
            let sent = carries.convert(request, &Conversions::default()).unwrap();
            assert_eq!((sent.temperature, sent.thinking), wanted, "and is not sent: {losses:?}");
        }
    }

    #[test]
    fn what_may_be_refused_can_be_chosen_in_the_settings() {
        let listed = PLAIN.never();
        for what in [Uncarried::Stop, Uncarried::Temperature, Uncarried::ThinkingWithTools] {
            assert!(listed.contains(&what), "{what} is among what the user chooses about: {listed:?}");
        }
        let able = Carries { stops: 64, temperature: Temperature::Always, thinking_with_tools: true, ..PLAIN };
        for what in [Uncarried::Stop, Uncarried::Temperature, Uncarried::ThinkingWithTools] {
            assert!(!able.never().contains(&what), "{what} is no question where it is always carried");
        }
    }
}
