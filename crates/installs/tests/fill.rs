//! Tests of plans with values filled in.
#![allow(clippy::unwrap_used)]

use std::collections::BTreeMap;

use installs::{
    ArgumentGroupTemplate, FillError, InputKind, InputProblem, InputValues, InstallPlan, PlanInput, PlannedTransport,
    Template, TemplatePart,
};
use ports::server_config::{HttpKind, StdioConfig};

fn input_values<const N: usize>(values: [(&str, &[&str]); N]) -> InputValues {
    let owned = |(key, values): (&str, &[&str])| (key.to_owned(), values.iter().map(|v| (*v).to_owned()).collect());
    values.into_iter().map(owned).collect()
}

fn joined_template(text: &str, key: &str) -> Template {
    Template { parts: vec![TemplatePart::Text(text.to_owned()), TemplatePart::Input(key.to_owned())] }
}

fn local_plan(args: Vec<ArgumentGroupTemplate>, inputs: Vec<PlanInput>) -> InstallPlan {
    let env = [("TOKEN".to_owned(), joined_template("Bearer ", "token")), ("MODE".to_owned(), Template::input("mode"))]
        .into();
    let secret = PlanInput { secret: true, ..PlanInput::text("token") };
    let mode = PlanInput { choices: vec!["fast".to_owned(), "safe".to_owned()], ..PlanInput::text("mode") };
    InstallPlan {
        name: "notes".to_owned(),
        target: PlannedTransport::Command { command: "npx".to_owned(), args, env },
        inputs: inputs.into_iter().chain([secret, mode]).collect(),
        notes: Vec::new(),
    }
}

fn fill_stdio(plan: &InstallPlan, values: &InputValues) -> StdioConfig {
    plan.fill(values, None).unwrap().entry.config.as_stdio().unwrap().clone()
}

#[test]
fn argument_without_a_value_is_omitted_with_its_flag() {
    let port = ArgumentGroupTemplate { words: vec!["--port".into(), Template::input("port")] };
    let plan = local_plan(vec!["-y".into(), port], vec![PlanInput::text("port")]);
    assert_eq!(fill_stdio(&plan, &input_values([])).args, ["-y"]);
    assert_eq!(
        fill_stdio(&plan, &input_values([("port", &[""])])).args,
        ["-y"],
        "an empty value must count as missing"
    );
    assert_eq!(fill_stdio(&plan, &input_values([("port", &["80"])])).args, ["-y", "--port", "80"]);
}

#[test]
fn several_input_values_repeat_the_argument() {
    let folder = PlanInput { kind: InputKind::Folder, multiple: true, ..PlanInput::text("folder") };
    let both = ArgumentGroupTemplate { words: vec!["--allow".into(), Template::input("folder")] };
    let plan = local_plan(vec![both], vec![folder]);
    let args = fill_stdio(&plan, &input_values([("folder", &["/a", "/b c"])])).args;
    assert_eq!(args, ["--allow", "/a", "--allow", "/b c"]);
}

#[test]
fn input_value_is_substituted_only_once() {
    let plan = local_plan(
        vec![Template::input("a").into(), Template::input("b").into()],
        vec![PlanInput::text("a"), PlanInput::text("b")],
    );
    let args = fill_stdio(&plan, &input_values([("a", &["{b} ${user_config.b} $&"]), ("b", &["x"])])).args;
    assert_eq!(args, ["{b} ${user_config.b} $&", "x"]);
}

#[test]
fn secrets_are_replaced_by_references_in_the_settings() {
    let plan = local_plan(vec![joined_template("--token=", "token").into()], Vec::new());
    assert_eq!(
        plan.secret_inputs_outside_keychain().into_iter().collect::<Vec<_>>(),
        ["token"],
        "a secret in an argument must be reported as exposed"
    );
    let plan = local_plan(Vec::new(), Vec::new());
    assert!(plan.secret_inputs_outside_keychain().is_empty());
    let (entry, secrets) = plan.fill(&input_values([("token", &["s3cret"])]), None).unwrap().into_settings(Vec::new());
    assert_eq!(entry.config.as_stdio().unwrap().env["TOKEN"], "Bearer ${secret:notes.TOKEN}");
    assert_eq!(secrets.into_iter().map(|(_, value)| value).collect::<Vec<_>>(), ["s3cret"]);
    assert!(fill_stdio(&plan, &input_values([])).env.is_empty(), "an optional secret without a value must be omitted");
}

#[test]
fn argument_can_require_an_input_without_containing_its_value() {
    let needs = |key: &str| Template {
        parts: vec![TemplatePart::Text("TOKEN".to_owned()), TemplatePart::Needs(key.to_owned())],
    };
    let plan = local_plan(vec![ArgumentGroupTemplate { words: vec!["-e".into(), needs("token")] }], Vec::new());
    assert!(fill_stdio(&plan, &input_values([])).args.is_empty(), "the argument must be omitted with its flag");
    assert_eq!(fill_stdio(&plan, &input_values([("token", &["s3cret"])])).args, ["-e", "TOKEN"]);
    assert!(plan.secret_inputs_outside_keychain().is_empty(), "the secret must not count as exposed");
}

#[test]
fn values_are_validated() {
    let number = PlanInput { kind: InputKind::Number, min: Some(1.0), max: Some(9.0), ..PlanInput::text("number") };
    let path = PlanInput { kind: InputKind::File, ..PlanInput::text("path") };
    let flag = PlanInput { kind: InputKind::Boolean, default: vec!["true".to_owned()], ..PlanInput::text("flag") };
    let needed = PlanInput { required: true, ..PlanInput::text("needed") };
    let plan = local_plan(Vec::new(), vec![number, path, flag, needed]);
    let cases: [(&str, &[&str], InputProblem); 10] = [
        ("number", &["ten"], InputProblem::NotANumber),
        ("number", &["NaN"], InputProblem::NotANumber),
        ("number", &["0"], InputProblem::OutOfRange),
        ("number", &["9.5"], InputProblem::OutOfRange),
        ("path", &["notes.txt"], InputProblem::NotAPath),
        ("flag", &["yes"], InputProblem::NotABoolean),
        ("mode", &["slow"], InputProblem::NotAChoice),
        ("mode", &["fast", "safe"], InputProblem::TooMany),
        ("token", &["two\nlines"], InputProblem::NotText),
        ("needed", &[""], InputProblem::Missing),
    ];
    for (key, wrong, problem) in cases {
        let mut given = input_values([("needed", &["x"])]);
        given.extend(input_values([(key, wrong)]));
        let expected = BTreeMap::from([(key.to_owned(), problem)]);
        assert_eq!(plan.fill(&given, None).unwrap_err(), FillError::Inputs(expected), "{key} = {wrong:?}");
    }
    let unknown = input_values([("needed", &["x"]), ("other", &["y"])]);
    assert_eq!(plan.fill(&unknown, None).unwrap_err(), FillError::UnknownInput("other".to_owned()));
}

#[test]
fn remote_url_requires_values_for_all_its_inputs() {
    let headers = [("Authorization".to_owned(), Template::input("token"))].into();
    let token = PlanInput { secret: true, ..PlanInput::text("token") };
    let plan = InstallPlan {
        name: "tracker".to_owned(),
        target: PlannedTransport::Remote {
            url: joined_template("https://mcp.example/", "team"),
            kind: HttpKind::Http,
            headers,
        },
        inputs: vec![PlanInput::text("team"), token],
        notes: Vec::new(),
    };
    assert!(matches!(plan.fill(&input_values([]), None), Err(FillError::Url(_))));
    let filled = plan.fill(&input_values([("team", &["blue"]), ("token", &["s3cret"])]), None).unwrap();
    let (entry, secrets) = filled.into_settings(Vec::new());
    let http = entry.config.as_http().unwrap();
    assert_eq!(http.url, "https://mcp.example/blue");
    assert_eq!(http.headers["Authorization"], "${secret:tracker.Authorization}");
    assert_eq!(secrets.len(), 1);
}

#[test]
fn plan_that_references_a_secret_is_rejected() {
    let refused = |plan: &InstallPlan, place: &str| {
        let given = if plan.inputs.iter().any(|input| input.key == "part") {
            input_values([("part", &["x"])])
        } else {
            input_values([])
        };
        assert_eq!(plan.fill(&given, None).unwrap_err(), FillError::NamesSecret(place.to_owned()));
    };
    let part = || PlanInput::text("part");
    let pieces = |texts: [&str; 2]| Template { parts: texts.map(|text| TemplatePart::Text(text.to_owned())).into() };
    refused(&local_plan(vec!["${secret:other.TOKEN}".into()], Vec::new()), "the command");
    refused(&local_plan(vec![pieces(["${sec", "ret:other.TOKEN}"]).into()], Vec::new()), "the command");
    refused(&local_plan(vec![joined_template("${secret:", "part").into()], vec![part()]), "the command");
    let offers = |default: &str| PlanInput { default: vec![default.to_owned()], ..part() };
    refused(
        &local_plan(vec![joined_template("$", "part").into()], vec![offers("{secret:other.TOKEN}")]),
        "the command",
    );
    refused(&local_plan(Vec::new(), vec![offers("${secret:other.TOKEN}")]), "what the input \"part\" offers");
    let mut plan = local_plan(Vec::new(), vec![part()]);
    if let PlannedTransport::Command { env, .. } = &mut plan.target {
        env.insert("KEY".to_owned(), joined_template("${secret:", "part"));
    }
    refused(&plan, "the variable \"KEY\"");
    let remote = |url: Template, header: Template| InstallPlan {
        name: "tracker".to_owned(),
        target: PlannedTransport::Remote { url, kind: HttpKind::Http, headers: [("Key".to_owned(), header)].into() },
        inputs: vec![part()],
        notes: Vec::new(),
    };
    refused(&remote("https://mcp.example/${secret:other.TOKEN}".into(), "x".into()), "the URL");
    refused(&remote("https://mcp.example/".into(), joined_template("${secret:", "part")), "the header \"Key\"");
    let plan = local_plan(vec![Template::input("part").into()], vec![part()]);
    let own = input_values([("part", &["${secret:mine}"])]);
    assert_eq!(fill_stdio(&plan, &own).args, ["${secret:mine}"], "a value of the user may refer to a secret");
}

#[test]
fn upgrade_keeps_matching_values_and_secret_references() {
    use ports::server_config::{FilledInputs, ServerConfig};
    let folder = || PlanInput { required: true, ..PlanInput::text("folder") };
    let plan = local_plan(vec![Template::input("folder").into()], vec![folder()]);
    let was = |token: &str| -> ServerConfig {
        let env = [("TOKEN", token), ("MODE", "safe"), ("MINE", "1"), ("GONE", "2")];
        let env = env.map(|(name, value)| (name.to_owned(), value.to_owned())).into();
        StdioConfig { command: "npx".to_owned(), env, ..StdioConfig::default() }.into()
    };
    let filled_in = FilledInputs { values: input_values([("folder", &["/srv"])]), names: ["GONE".to_owned()].into() };
    let config = was("Bearer ${secret:notes.TOKEN}");
    let carried = plan.values_kept_from(&config, &filled_in);
    assert_eq!(carried.values, input_values([("folder", &["/srv"]), ("mode", &["safe"])]));
    assert_eq!(carried.secrets, ["token".to_owned()].into());
    let server = plan.fill_for_upgrade(&input_values([]), &carried, &config, None).unwrap();
    let stdio = server.entry.config.as_stdio().unwrap();
    assert_eq!(stdio.args, ["/srv"]);
    let env: Vec<(&str, &str)> = stdio.env.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    assert_eq!(
        env,
        [("MINE", "1"), ("MODE", "safe")],
        "variables of the user must be retained, and those of the previous plan removed"
    );
    assert!(matches!(
        &server.secret_values["TOKEN"][..],
        [ports::server_config::ValuePart::Text(text), ports::server_config::ValuePart::Secret(None)] if text == "Bearer "
    ));
    let entered = plan.fill_for_upgrade(&input_values([("token", &["new"])]), &carried, &config, None).unwrap();
    assert!(matches!(entered.secret_values["TOKEN"][1], ports::server_config::ValuePart::Secret(Some(_))));
    // In a form other than the plan's, a secret could end up in a place that the user didn't choose.
    for other in ["${secret:notes.TOKEN}", "Bearer plain", "Bearer ${secret:a}${secret:b}", "Bearer x${secret:a}"] {
        let carried = plan.values_kept_from(&was(other), &filled_in);
        assert!(carried.secrets.is_empty(), "{other}");
    }
    let secret = PlanInput { secret: true, required: true, ..PlanInput::text("folder") };
    let now_secret = local_plan(vec![Template::input("folder").into()], vec![secret]);
    let carried = now_secret.values_kept_from(&config, &filled_in);
    assert!(!carried.values.contains_key("folder"), "a value must not be carried over to a secret input");
}
