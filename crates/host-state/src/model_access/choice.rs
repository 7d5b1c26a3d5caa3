//! Chooses the model that replies to a server's sampling request. Used by `host/src/owner/sampling/request.rs`.

use mcp_proto::types::CreateMessageParams;
use models::ModelRef;
use policy::Hash;
use serde_json::json;
use server_requests::sampling::conversion::to_model_request;
use server_requests::sampling::model_choice::{ModelSelectionPreferences, choose_model};
use server_requests::sampling::{ModelChoice, ModelChoiceReason, SamplingState};

use super::ModelAccess;

impl ModelAccess {
    /// Returns the model that would reply to a server's sampling request, and the reason for the choice. `None` if no
    /// model is available.
    pub fn choose_sampling_model(
        &self,
        server: &str,
        params: &CreateMessageParams,
    ) -> Option<(ModelRef, ModelChoiceReason)> {
        let can_answer = |model: &&ModelRef| self.registry.provider(&model.provider).is_ok();
        let settings = self.sampling.settings(server);
        let setting = settings.model.as_ref().filter(can_answer);
        let default = self.providers.file.default.as_ref().filter(can_answer);
        let wish = ModelSelectionPreferences { preferences: params.model_preferences.as_ref(), setting, default };
        let all: Vec<_> = self.registry.all_models().collect();
        choose_model(wish, &all)
    }

    /// Stores the chosen model, its display name, and the maximum cost in the state of a sampling request.
    pub fn store_chosen_model(
        &self,
        state: &mut SamplingState,
        model: ModelRef,
        by: ModelChoiceReason,
        params: &CreateMessageParams,
    ) {
        let name = self.registry.model(&model).map(|known| known.name.clone()).filter(|name| !name.is_empty());
        let request = to_model_request(params).ok();
        state.losses =
            request.and_then(|request| self.registry.find_lossy_conversions(&model, &request).ok()).unwrap_or_default();
        let most_micros = self.max_cost_micros(&model, params);
        let provider = self.providers.settings_of(&model.provider).ok().map(|settings| Hash::of_json(&json!(settings)));
        let name = name.unwrap_or_else(|| model.model.clone());
        state.model = Some(ModelChoice { name, model, by, provider, most_micros });
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{model_access_with_price, params, price};
    use super::*;

    #[test]
    fn model_without_its_provider_is_not_chosen() {
        let (mut access, model) = model_access_with_price(price("USD", None));
        let missing = ModelRef { provider: "gone".to_owned(), model: "m".to_owned() };
        access.providers.file.default = Some(missing);
        let chosen = access.choose_sampling_model("s", &params());
        assert_eq!(
            chosen,
            Some((model.clone(), ModelChoiceReason::First)),
            "a default without a provider is not chosen"
        );
        access.providers.file.default = Some(model.clone());
        assert_eq!(
            access.choose_sampling_model("s", &params()),
            Some((model, ModelChoiceReason::Default)),
            "a default with a provider is chosen"
        );
    }

    #[test]
    fn model_choice_includes_the_maximum_cost_and_a_display_name() {
        let (access, model) = model_access_with_price(price("USD", None));
        let mut state = SamplingState::default();
        access.store_chosen_model(&mut state, model.clone(), ModelChoiceReason::User, &params());
        let choice = state.model.expect("the model was stored");
        assert_eq!(
            (choice.name.as_str(), &choice.model),
            ("m", &model),
            "a model without a name is displayed by its id"
        );
        assert_eq!(
            choice.most_micros,
            access.max_cost_micros(&model, &params()),
            "the choice includes the maximum cost"
        );
        assert_eq!(choice.provider, None, "the provider is not in the settings");
    }
}
