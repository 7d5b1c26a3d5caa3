//! Content and options that a provider's API supports, and the conversion of requests to them.

use crate::{
    Conversion, ConversionChoices, LossyConversion, MessagePart, ModelError, ModelMessage, ModelRequest, Role,
    ToolChoice, UnsupportedFeature,
};

/// Content and options that a provider's API supports without conversion.
#[derive(Debug, Clone, Copy)]
pub(crate) struct WireCapabilities {
    /// Supported media types of images.
    pub(crate) images: &'static [&'static str],
    /// Supported media types of audio recordings.
    pub(crate) audio: &'static [&'static str],
    /// Supported media types of files. `*` stands for all types.
    pub(crate) files: &'static [&'static str],
    /// Set if tool results may contain images.
    pub(crate) images_in_results: bool,
    /// Set if tool results may contain files.
    pub(crate) files_in_results: bool,
    /// Set if a tool result can be marked as an error.
    pub(crate) tool_error: bool,
    /// Set if a request can force the use of a tool.
    pub(crate) tool_required: bool,
    /// Maximum number of stop sequences in one request.
    pub(crate) max_stop_sequences: usize,
    /// Condition under which the API supports a sampling temperature.
    pub(crate) temperature: TemperatureSupport,
    /// Set if reasoning can be requested together with tools.
    pub(crate) thinking_with_tools: bool,
}

/// Condition under which an API supports a sampling temperature.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TemperatureSupport {
    Always,
    WithoutThinking,
    Never,
}

/// Number of stop sequences from which an API's maximum is not reported as a limitation, since requests don't contain
/// more.
const STOP_SEQUENCE_LIMIT_TOO_HIGH_TO_REPORT: usize = 8;

/// Media types of images that every provider with image support accepts.
pub(crate) const IMAGE_MEDIA_TYPES: &[&str] = &["image/png", "image/jpeg", "image/gif", "image/webp"];

impl WireCapabilities {
    fn contains_media_type(types: &[&str], mime: &str) -> bool {
        types.iter().any(|own| *own == "*" || own.eq_ignore_ascii_case(mime))
    }

    /// Returns the unsupported feature if this part can't be sent in a message.
    fn unsupported_feature_in_message(&self, part: &MessagePart) -> Option<UnsupportedFeature> {
        match part {
            MessagePart::Image { mime, .. } if !Self::contains_media_type(self.images, mime) => {
                Some(UnsupportedFeature::Image)
            }
            MessagePart::Audio { mime, .. } if !Self::contains_media_type(self.audio, mime) => {
                Some(UnsupportedFeature::Audio)
            }
            MessagePart::File { mime, .. } if !Self::contains_media_type(self.files, mime) => {
                Some(UnsupportedFeature::File)
            }
            _ => None,
        }
    }

    /// Returns the unsupported feature if this part can't be sent in a tool result.
    fn unsupported_feature_in_tool_result(&self, part: &MessagePart) -> Option<UnsupportedFeature> {
        match part {
            MessagePart::Image { mime, .. }
                if !(self.images_in_results && Self::contains_media_type(self.images, mime)) =>
            {
                Some(UnsupportedFeature::ImageInToolResult)
            }
            MessagePart::Audio { .. } => Some(UnsupportedFeature::AudioInToolResult),
            MessagePart::File { mime, .. }
                if !(self.files_in_results && Self::contains_media_type(self.files, mime)) =>
            {
                Some(UnsupportedFeature::FileInToolResult)
            }
            _ => None,
        }
    }

    /// Returns the features that the API does not support, or supports only in some cases.
    pub(crate) fn unsupported_features(&self) -> Vec<UnsupportedFeature> {
        [
            (UnsupportedFeature::ImageInToolResult, !self.images_in_results),
            (UnsupportedFeature::AudioInToolResult, true),
            (UnsupportedFeature::FileInToolResult, !self.files_in_results),
            (UnsupportedFeature::ToolError, !self.tool_error),
            (UnsupportedFeature::Audio, true),
            (UnsupportedFeature::File, true),
            (UnsupportedFeature::ToolRequired, !self.tool_required),
            (UnsupportedFeature::Stop, self.max_stop_sequences < STOP_SEQUENCE_LIMIT_TOO_HIGH_TO_REPORT),
            (UnsupportedFeature::Temperature, self.temperature != TemperatureSupport::Always),
            (UnsupportedFeature::ThinkingWithTools, !self.thinking_with_tools),
        ]
        .into_iter()
        .filter_map(|(what, is_lost)| is_lost.then_some(what))
        .collect()
    }

    /// Returns each kind of content or option in a request that the API does not support, with its conversion.
    pub(crate) fn find_lossy_conversions_for_choices(
        &self,
        request: &ModelRequest,
        conversions: &ConversionChoices,
    ) -> Vec<LossyConversion> {
        let mut found: Vec<UnsupportedFeature> = Vec::new();
        let mut note = |what: Option<UnsupportedFeature>| {
            if let Some(what) = what
                && !found.contains(&what)
            {
                found.push(what);
            }
        };
        note(
            (request.tool_choice == ToolChoice::Required && !self.tool_required)
                .then_some(UnsupportedFeature::ToolRequired),
        );
        note((request.stop.len() > self.max_stop_sequences).then_some(UnsupportedFeature::Stop));
        let takes_temperature = match self.temperature {
            TemperatureSupport::Always => true,
            TemperatureSupport::WithoutThinking => !request.thinking,
            TemperatureSupport::Never => false,
        };
        note((request.temperature.is_some() && !takes_temperature).then_some(UnsupportedFeature::Temperature));
        let thinks_with_tools = request.thinking && !request.tools.is_empty();
        note((thinks_with_tools && !self.thinking_with_tools).then_some(UnsupportedFeature::ThinkingWithTools));
        for part in request.messages.iter().flat_map(|message| &message.parts) {
            note(self.unsupported_feature_in_message(part));
            let MessagePart::ToolResult { parts, is_error, .. } = part else { continue };
            note((*is_error && !self.tool_error).then_some(UnsupportedFeature::ToolError));
            for part in parts {
                let what = self.unsupported_feature_in_tool_result(part);
                note(what);
                // Content that is moved to a following message must be supported there.
                if what.is_some_and(|what| conversions.conversion(what).then == Conversion::SendAfter) {
                    note(self.unsupported_feature_in_message(part));
                }
            }
        }
        found.into_iter().map(|what| conversions.conversion(what)).collect()
    }

    /// Converts the unsupported parts of a request.
    ///
    /// # Errors
    /// Returns [`ModelError::CannotCarry`] if an unsupported part must be refused because the user has not chosen
    /// another conversion.
    pub(crate) fn convert_request(
        &self,
        request: ModelRequest,
        conversions: &ConversionChoices,
    ) -> Result<ModelRequest, ModelError> {
        let losses = self.find_lossy_conversions_for_choices(&request, conversions);
        if let Some(refused) = losses.iter().find(|loss| loss.then == Conversion::Refuse) {
            return Err(ModelError::CannotCarry(*refused));
        }
        if losses.is_empty() {
            return Ok(request);
        }
        let mut request = request;
        if losses.iter().any(|loss| loss.what == UnsupportedFeature::ToolRequired) {
            request.tool_choice = ToolChoice::Auto;
        }
        if losses.iter().any(|loss| loss.what == UnsupportedFeature::Temperature) {
            request.temperature = None;
        }
        if losses.iter().any(|loss| loss.what == UnsupportedFeature::ThinkingWithTools) {
            request.thinking = false;
        }
        request.stop.truncate(self.max_stop_sequences);
        request.messages =
            request.messages.into_iter().map(|message| self.convert_message(message, conversions)).collect();
        Ok(request)
    }

    fn convert_message(&self, message: ModelMessage, conversions: &ConversionChoices) -> ModelMessage {
        let ModelMessage { role, parts } = message;
        let mut after = Vec::new();
        let mut parts: Vec<MessagePart> =
            parts.into_iter().map(|part| self.convert_part(part, role, conversions, &mut after)).collect();
        parts.append(&mut after);
        ModelMessage { role, parts }
    }

    fn convert_part(
        &self,
        part: MessagePart,
        role: Role,
        conversions: &ConversionChoices,
        after: &mut Vec<MessagePart>,
    ) -> MessagePart {
        if self.unsupported_feature_in_message(&part).is_some() {
            return omission_note(&part);
        }
        let MessagePart::ToolResult { id, name, parts, is_error } = part else { return part };
        let mut own = Vec::with_capacity(parts.len());
        if is_error && !self.tool_error {
            own.push(MessagePart::text("The tool failed with this message:"));
        }
        for part in parts {
            match self.unsupported_feature_in_tool_result(&part).map(|what| conversions.conversion(what).then) {
                None => own.push(part),
                Some(Conversion::SendAfter) if role == Role::User => {
                    own.push(MessagePart::text(format!(
                        "[{} follows after the results of the tools]",
                        part_kind_text(&part)
                    )));
                    after.push(MessagePart::text(format!(
                        "[{} from the result of the tool {name}]",
                        part_kind_text(&part)
                    )));
                    let is_carried = self.unsupported_feature_in_message(&part).is_none();
                    after.push(if is_carried { part } else { omission_note(&part) });
                }
                Some(_) => own.push(omission_note(&part)),
            }
        }
        MessagePart::ToolResult { id, name, parts: own, is_error }
    }
}

fn omission_note(part: &MessagePart) -> MessagePart {
    MessagePart::text(format!("[{} was omitted: it can't be sent to this model]", part_kind_text(part)))
}

fn part_kind_text(part: &MessagePart) -> String {
    match part {
        MessagePart::Image { mime, .. } => format!("a picture ({mime})"),
        MessagePart::Audio { mime, .. } => format!("a recording ({mime})"),
        MessagePart::File { name, mime, .. } => format!("the file {name} ({mime})"),
        MessagePart::Text(_)
        | MessagePart::Thinking { .. }
        | MessagePart::ToolUse { .. }
        | MessagePart::ToolResult { .. } => "a part".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use bytes::Bytes;

    use super::*;
    use crate::ModelTool;

    const MINIMAL_CAPABILITIES: WireCapabilities = WireCapabilities {
        images: IMAGE_MEDIA_TYPES,
        audio: &[],
        files: &[],
        images_in_results: false,
        files_in_results: false,
        tool_error: false,
        tool_required: false,
        max_stop_sequences: 1,
        temperature: TemperatureSupport::WithoutThinking,
        thinking_with_tools: false,
    };

    fn image_part(mime: &str) -> MessagePart {
        MessagePart::Image { mime: mime.into(), data: Bytes::from_static(b"x") }
    }

    fn request_with_parts(parts: Vec<MessagePart>) -> ModelRequest {
        ModelRequest { messages: vec![ModelMessage { role: Role::User, parts }], ..ModelRequest::default() }
    }

    fn tool_result_part(parts: Vec<MessagePart>, is_error: bool) -> MessagePart {
        MessagePart::ToolResult { id: "1".into(), name: "look".into(), parts, is_error }
    }

    #[test]
    fn request_with_audio_is_refused_until_the_user_chooses_a_conversion() {
        let request = request_with_parts(vec![MessagePart::Audio { mime: "audio/wav".into(), data: Bytes::new() }]);
        let refused = MINIMAL_CAPABILITIES.convert_request(request.clone(), &ConversionChoices::default());
        let loss = LossyConversion { what: UnsupportedFeature::Audio, then: Conversion::Refuse };
        assert_eq!(refused, Err(ModelError::CannotCarry(loss)), "nothing is dropped silently");
        let chosen = ConversionChoices([(UnsupportedFeature::Audio, Conversion::LeaveOut)].into());
        let sent = MINIMAL_CAPABILITIES.convert_request(request, &chosen).unwrap();
        let text = sent.messages[0].plain_text();
        assert!(text.contains("a recording (audio/wav) was omitted"), "a note replaces the omitted part: {text}");
    }

    #[test]
    fn images_of_tool_results_follow_all_tool_results() {
        let request = request_with_parts(vec![
            tool_result_part(vec![MessagePart::text("a"), image_part("image/png")], false),
            tool_result_part(vec![MessagePart::text("b")], true),
        ]);
        let losses = MINIMAL_CAPABILITIES.find_lossy_conversions_for_choices(&request, &ConversionChoices::default());
        let expected = [
            LossyConversion { what: UnsupportedFeature::ImageInToolResult, then: Conversion::SendAfter },
            LossyConversion { what: UnsupportedFeature::ToolError, then: Conversion::SayInText },
        ];
        assert_eq!(losses, expected, "both losses are reported before sending");
        let sent = MINIMAL_CAPABILITIES.convert_request(request, &ConversionChoices::default()).unwrap();
        let parts = &sent.messages[0].parts;
        assert!(matches!(parts[1], MessagePart::ToolResult { .. }), "tool results stay together: {parts:?}");
        assert_eq!(parts[3], image_part("image/png"), "the image comes last, after a text with its origin");
        let MessagePart::ToolResult { parts: failed, .. } = &parts[1] else { unreachable!() };
        assert_eq!(
            failed[0],
            MessagePart::text("The tool failed with this message:"),
            "the failure is described in text"
        );
    }

    #[test]
    fn unsupported_image_in_a_tool_result_is_refused() {
        let request = request_with_parts(vec![tool_result_part(vec![image_part("image/tiff")], false)]);
        let refused = MINIMAL_CAPABILITIES.convert_request(request, &ConversionChoices::default());
        let loss = LossyConversion { what: UnsupportedFeature::Image, then: Conversion::Refuse };
        assert_eq!(refused, Err(ModelError::CannotCarry(loss)), "a following message can't contain it either");
    }

    #[test]
    fn chosen_conversion_unsuitable_for_the_content_is_ignored() {
        let chosen = ConversionChoices([(UnsupportedFeature::Audio, Conversion::SayInText)].into());
        assert_eq!(
            chosen.conversion(UnsupportedFeature::Audio).then,
            Conversion::Refuse,
            "a recording can't be described in text"
        );
    }

    #[test]
    fn too_many_stop_sequences_are_reported_as_lossy_conversion() {
        let request =
            ModelRequest { stop: vec!["a".into(), "b".into()], ..request_with_parts(vec![MessagePart::text("x")]) };
        let losses = MINIMAL_CAPABILITIES.find_lossy_conversions_for_choices(&request, &ConversionChoices::default());
        assert_eq!(
            losses,
            [LossyConversion { what: UnsupportedFeature::Stop, then: Conversion::Refuse }],
            "two stop sequences where one is supported"
        );
    }

    #[test]
    fn temperature_and_thinking_are_sent_only_if_the_model_supports_them() {
        let tool = ModelTool { name: "look".into(), description: None, input_schema: serde_json::json!({}) };
        let hot = ModelRequest { temperature: Some(0.5), ..request_with_parts(vec![MessagePart::text("x")]) };
        let thinking = ModelRequest { thinking: true, ..hot.clone() };
        let both = ModelRequest { tools: vec![tool], ..thinking.clone() };
        let never = WireCapabilities { temperature: TemperatureSupport::Never, ..MINIMAL_CAPABILITIES };
        let temperature = LossyConversion { what: UnsupportedFeature::Temperature, then: Conversion::LeaveOut };
        let thought = LossyConversion { what: UnsupportedFeature::ThinkingWithTools, then: Conversion::LeaveOut };
        let cases = [
            (MINIMAL_CAPABILITIES, hot.clone(), vec![], (Some(0.5), false)),
            (MINIMAL_CAPABILITIES, thinking, vec![temperature], (None, true)),
            (never, hot, vec![temperature], (None, false)),
            (never, both, vec![temperature, thought], (None, false)),
        ];
        for (carries, request, losses, expected) in cases {
            assert_eq!(
                carries.find_lossy_conversions_for_choices(&request, &ConversionChoices::default()),
                losses,
                "losses are reported"
            );
            let sent = carries.convert_request(request, &ConversionChoices::default()).unwrap();
            assert_eq!((sent.temperature, sent.thinking), expected, "omitted options are not sent: {losses:?}");
        }
    }

    #[test]
    fn every_unsupported_feature_is_offered_as_a_choice() {
        let listed = MINIMAL_CAPABILITIES.unsupported_features();
        for what in [UnsupportedFeature::Stop, UnsupportedFeature::Temperature, UnsupportedFeature::ThinkingWithTools] {
            assert!(listed.contains(&what), "{what} is offered as a choice: {listed:?}");
        }
        let able = WireCapabilities {
            max_stop_sequences: 64,
            temperature: TemperatureSupport::Always,
            thinking_with_tools: true,
            ..MINIMAL_CAPABILITIES
        };
        for what in [UnsupportedFeature::Stop, UnsupportedFeature::Temperature, UnsupportedFeature::ThinkingWithTools] {
            assert!(!able.unsupported_features().contains(&what), "{what} is not offered where it is always supported");
        }
    }
}
