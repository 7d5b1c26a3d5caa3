//! Tests of plans for packages and remotes, and of the resulting settings.

mod remotes;

use installs::{InputKind, InputProblem, InputValues, InstallNote, InstallPlan, PlanPlace};
use launches::packages::{LauncherPackage, launched_package};
use ports::server_config::{HttpConfig, HttpKind, StdioConfig};
use registry::server_json::read_entry;
use registry::{PackageInstall, PlanError, ServerJson, plan_package, plan_remote};
use serde_json::{Value, json};

const IMAGE_DIGEST: &str = "sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";

fn server_json_with(member: &str, value: &Value) -> ServerJson {
    let mut entry = json!({ "server": { "name": "io.github.alice/notes", "version": "1.0.0" } });
    entry["server"][member] = json!([value]);
    read_entry(entry.to_string().as_bytes()).unwrap().server
}

fn plan_package_json(package: &Value) -> Result<PackageInstall, PlanError> {
    let server = server_json_with("packages", package);
    plan_package(&server, &server.packages[0])
}

fn package_plan(described: &Value) -> InstallPlan {
    match plan_package_json(described).unwrap() {
        PackageInstall::Plan(plan) => plan,
        PackageInstall::Bundle(bundle) => panic!("expected a command, not {bundle:?}"),
    }
}

fn plan_remote_json(remote: &Value) -> Result<InstallPlan, PlanError> {
    let server = server_json_with("remotes", remote);
    plan_remote(&server, &server.remotes[0])
}

/// Returns the description of an npm package with additional members.
fn npm_package(more: &Value) -> Value {
    let mut package = json!({ "registryType": "npm", "identifier": "@alice/notes", "version": "1.2.3", "transport": { "type": "stdio" } });
    package.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    package
}

fn input_values(values: &[(&str, &[&str])]) -> InputValues {
    let owned = |(key, values): &(&str, &[&str])| ((*key).to_owned(), values.iter().map(|v| (*v).to_owned()).collect());
    values.iter().map(owned).collect()
}

fn filled_stdio(plan: &InstallPlan, given: &[(&str, &[&str])]) -> StdioConfig {
    plan.fill(&input_values(given), None).unwrap().entry.config.as_stdio().unwrap().clone()
}

fn filled_http(plan: &InstallPlan, given: &[(&str, &[&str])]) -> HttpConfig {
    plan.fill(&input_values(given), None).unwrap().entry.config.as_http().unwrap().clone()
}

/// Returns the English texts of a plan's notes, joined by semicolons.
fn notes_text(plan: &InstallPlan) -> String {
    plan.notes.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ")
}

/// Returns the planned command line of a package if the user enters no values.
fn planned_command_line(described: &Value) -> String {
    filled_stdio(&package_plan(described), &[]).command_line()
}

#[test]
fn each_package_kind_has_its_launcher_and_names_the_same_package() {
    let kind = |kind: &str, identifier: &str, version: &str| json!({ "registryType": kind, "identifier": identifier, "version": version });
    let image = format!("ghcr.io/alice/notes@{IMAGE_DIGEST}");
    let cases = [
        (kind("npm", "@alice/notes", "1.2.3"), "npx -y @alice/notes@1.2.3", "@alice/notes", "1.2.3"),
        (kind("npm", "notes", "1.2.3-beta.1"), "npx -y notes@1.2.3-beta.1", "notes", "1.2.3-beta.1"),
        (kind("pypi", "notes-mcp", "0.4"), "uvx notes-mcp==0.4", "notes-mcp", "==0.4"),
        (kind("nuget", "Alice.Notes", "1.2.3"), "dnx Alice.Notes@1.2.3 --yes --", "Alice.Notes", "1.2.3"),
        (
            kind("oci", "docker.io/alice/notes:1.2", ""),
            "docker run -i --rm docker.io/alice/notes:1.2",
            "docker.io/alice/notes",
            "1.2",
        ),
        (kind("oci", &image, ""), &format!("docker run -i --rm {image}"), "ghcr.io/alice/notes", IMAGE_DIGEST),
    ];
    for (package, expected, name, version) in cases {
        assert_eq!(planned_command_line(&package), expected);
        let config = filled_stdio(&package_plan(&package), &[]);
        let Some(LauncherPackage::Package(reference)) = launched_package(&config.command, &config.args) else {
            panic!("{expected}")
        };
        assert_eq!(
            (reference.name.as_str(), reference.requested_version.as_str()),
            (name, version),
            "name and version must be recognized on the command line"
        );
    }
}

#[test]
fn unpinned_package_is_noted() {
    let kind =
        |kind: &str, identifier: &str| package_plan(&json!({ "registryType": kind, "identifier": identifier })).notes;
    assert_eq!(kind("npm", "notes"), [InstallNote::NoVersion { program: "npx".to_owned() }]);
    assert_eq!(kind("oci", "alice/notes:1.2"), [InstallNote::UnpinnedTag { tag: "1.2".to_owned() }]);
    assert_eq!(kind("oci", "localhost:5000/notes"), [InstallNote::NoTag]);
    assert!(kind("oci", &format!("alice/notes@{IMAGE_DIGEST}")).is_empty());
    assert!(package_plan(&npm_package(&json!({}))).notes.is_empty());
    let hashed = package_plan(&npm_package(&json!({ "fileSha256": "ab" })));
    assert_eq!(hashed.notes, [InstallNote::HashNotUsed { program: "npx".to_owned() }]);
}

#[test]
fn identifiers_and_versions_cannot_become_options() {
    let kind = |kind: &str, identifier: &str, version: &str| {
        plan_package_json(&json!({ "registryType": kind, "identifier": identifier, "version": version }))
    };
    for (of, identifier) in [
        ("npm", "--call=id"),
        ("npm", "-c"),
        ("npm", "notes@latest"),
        ("npm", "@alice/../x"),
        ("npm", "@alice/-c"),
        ("npm", "a/b/c"),
        ("npm", "github:alice/notes"),
        ("npm", "https://evil.example/x.tgz"),
        ("npm", "./notes"),
        ("npm", "notes --call id"),
        ("pypi", "--from"),
        ("pypi", "notes[extra]"),
        ("pypi", "notes @ https://evil.example"),
        ("nuget", "@Alice/Notes"),
        ("oci", "-v"),
        ("oci", "--privileged"),
        ("oci", "alice/notes -v /:/host"),
        ("oci", "alice/notes@sha256:12"),
        ("oci", "alice/notes:"),
    ] {
        let refused = kind(of, identifier, "");
        assert!(matches!(refused, Err(PlanError::Identifier(_))), "{identifier}: {refused:?}");
    }
    for version in [
        "latest",
        "^1.2",
        "~1",
        "1.x",
        "1.*",
        ">=1",
        "1 - 2",
        "*",
        "-1",
        "1.0 --call",
        "next",
        "1.0.0@evil",
        "1,<2",
        "1",
        "1.2",
    ] {
        let refused = kind("npm", "notes", version);
        assert!(matches!(refused, Err(PlanError::Version(_))), "{version}: {refused:?}");
    }
}

#[test]
fn unsupported_package_is_reported() {
    let cases = [
        (json!({ "registryType": "cargo", "identifier": "notes" }), "kind \"cargo\""),
        (
            npm_package(&json!({ "transport": { "type": "streamable-http", "url": "http://127.0.0.1:{port}" } })),
            "start it yourself",
        ),
        (npm_package(&json!({ "registryBaseUrl": "http://npm.example" })), "package registry \"http://npm.example\""),
        (
            json!({ "registryType": "pypi", "identifier": "notes", "registryBaseUrl": "https://pypi.corp.example" }),
            "package registry",
        ),
        (
            npm_package(
                &json!({ "runtimeHint": "node", "runtimeArguments": [{ "type": "positional", "value": "x.js" }] }),
            ),
            "program \"node\"",
        ),
        (npm_package(&json!({ "environmentVariables": [{ "name": "A*" }] })), "no name of a variable"),
        (npm_package(&json!({ "environmentVariables": [{ "name": "A" }, { "name": "A" }] })), "twice"),
        (npm_package(&json!({ "packageArguments": [{ "type": "named" }] })), "no name"),
    ];
    for (described, expected) in cases {
        let error = plan_package_json(&described).unwrap_err().to_string();
        assert!(error.contains(expected), "{error}");
    }
}

#[test]
fn custom_package_registry_is_noted() {
    assert_eq!(
        planned_command_line(&npm_package(&json!({ "registryBaseUrl": "https://registry.npmjs.org/" }))),
        "npx -y @alice/notes@1.2.3"
    );
    let own = planned_command_line(&npm_package(&json!({ "registryBaseUrl": "https://npm.corp.example" })));
    assert_eq!(own, "npx -y --registry=https://npm.corp.example @alice/notes@1.2.3");
    let of_another =
        json!({ "registryType": "pypi", "identifier": "notes", "registryBaseUrl": "https://registry.npmjs.org" });
    assert!(
        matches!(plan_package_json(&of_another), Err(PlanError::PackageRegistry(_))),
        "a package registry of another launcher must be refused"
    );
    let image = |base: &str, identifier: &str| {
        planned_command_line(
            &json!({ "registryType": "oci", "identifier": identifier, "version": "1.2", "registryBaseUrl": base }),
        )
    };
    assert_eq!(image("https://ghcr.io", "alice/notes"), "docker run -i --rm ghcr.io/alice/notes:1.2");
    assert_eq!(image("https://ghcr.io", "ghcr.io/alice/notes:1.1"), "docker run -i --rm ghcr.io/alice/notes:1.1");
    assert_eq!(image("https://docker.io", "alice/notes"), "docker run -i --rm alice/notes:1.2");
}

#[test]
fn settings_that_select_the_code_source_are_noted() {
    let other = package_plan(&npm_package(&json!({ "registryBaseUrl": "https://npm.corp.example" })));
    assert_eq!(other.notes, [InstallNote::OtherPackageRegistry { registry: "https://npm.corp.example".to_owned() }]);
    let with = |mut package: Value, name: &str| {
        package["environmentVariables"] = json!([{ "name": name, "value": "x" }]);
        notes_text(&package_plan(&package))
    };
    let image = json!({ "registryType": "oci", "identifier": format!("alice/notes@{IMAGE_DIGEST}") });
    // A server run by npx may use the engine itself.
    for name in ["npm_config_registry", "NODE_OPTIONS", "PATH", "LD_PRELOAD", "DOCKER_HOST"] {
        let notes = with(npm_package(&json!({})), name);
        assert!(notes.contains(&format!("where it is loaded from: \"{name}\"")), "{name}: {notes}");
    }
    for name in ["DOCKER_TLS_VERIFY", "docker_context", "CONTAINER_HOST"] {
        assert!(with(image.clone(), name).contains(name), "{name}");
    }
    assert_eq!(
        with(npm_package(&json!({})), "DOCKER_TLS_VERIFY"),
        "",
        "a variable of a container engine must be allowed for npx"
    );
    assert_eq!(with(image, "NOTES_FOLDER"), "");
}

#[test]
fn launcher_package_and_server_arguments_keep_their_order() {
    let described = npm_package(&json!({
        "runtimeHint": "npx",
        "runtimeArguments": [
            { "type": "positional", "value": "-y" },
            { "type": "named", "name": "--yes" },
            { "type": "named", "name": "--loglevel", "value": "warn" },
        ],
        "packageArguments": [
            { "type": "positional", "value": "serve" },
            { "type": "named", "name": "--stdio" },
            { "type": "named", "name": "--empty", "value": "" },
            { "type": "named", "name": "--port", "default": "8080", "format": "number" },
            { "type": "named", "name": "--allow", "isRepeated": true, "format": "filepath" },
            { "type": "positional", "valueHint": "folder", "isRequired": true, "isRepeated": true },
        ],
    }));
    let plan = package_plan(&described);
    assert_eq!(plan.name, "notes");
    let config = filled_stdio(&plan, &[("folder", &["a b", "-c"]), ("--allow", &["/x", "/y"])]);
    let expected =
        "npx -y --loglevel warn @alice/notes@1.2.3 serve --stdio --empty --port 8080 --allow /x --allow /y 'a b' -c";
    assert_eq!(config.command_line(), expected);
    let missing = plan.fill(&InputValues::new(), None).unwrap_err();
    assert!(missing.to_string().contains("folder: a value is required"), "{missing}");
    let kinds: Vec<(&str, InputKind, bool)> =
        plan.inputs.iter().map(|i| (i.key.as_str(), i.kind, i.multiple)).collect();
    let expected =
        [("--port", InputKind::Number, false), ("--allow", InputKind::File, true), ("folder", InputKind::Text, true)];
    assert_eq!(kinds, expected);
    assert!(notes_text(&plan).contains("arguments for npx itself"), "{:?}", plan.notes);
}

#[test]
fn container_receives_variables_with_a_value() {
    let described = json!({
        "registryType": "oci", "identifier": "alice/notes:1", "runtimeHint": "docker",
        "runtimeArguments": [
            { "type": "positional", "value": "run" }, { "type": "positional", "value": "-i" }, { "type": "named", "name": "--rm" },
            {
                "type": "named", "name": "--mount", "value": "type=bind,src={source},dst={target}", "isRequired": true, "isRepeated": true,
                "variables": { "source": { "format": "filepath" }, "target": { "default": "/project" } },
            },
        ],
        "environmentVariables": [
            { "name": "HOME" }, { "name": "KEY", "isSecret": true, "isRequired": true }, { "name": "MODE", "value": "safe" },
        ],
    });
    let plan = package_plan(&described);
    let config = filled_stdio(&plan, &[("source", &["/a", "/b"]), ("KEY", &["s3cret"])]);
    let expected = "docker run -i --rm -e KEY -e MODE --mount type=bind,src=/a,dst=/project --mount type=bind,src=/b,dst=/project alice/notes:1";
    assert_eq!(config.command_line(), expected, "HOME of this computer must not be passed on");
    assert!(plan.secret_inputs_outside_keychain().is_empty());
    let without = plan.fill(&input_values(&[("KEY", &["s3cret"])]), None).unwrap_err();
    assert!(without.to_string().contains("source"), "a variable in a required argument must be required: {without}");
}

#[test]
fn variables_are_replaced_once() {
    let described = npm_package(&json!({ "environmentVariables": [{
        "name": "TARGET", "value": "{fixed}/{user}/{unknown}/{{user}}/{}/{open", "isSecret": true,
        "variables": { "fixed": { "value": "{user}" }, "user": { "isRequired": true } },
    }] }));
    let plan = package_plan(&described);
    let filled = plan.fill(&input_values(&[("user", &["{fixed}"])]), None).unwrap();
    let (entry, stored_secrets) = filled.into_settings(Vec::new());
    let text = &entry.config.as_stdio().unwrap().env["TARGET"];
    let secrets = ports::secrets::referenced_secret_names(text);
    assert_eq!(secrets.len(), 2, "each use of a secret must refer to the keychain: {text}");
    let shown = text
        .replace(&ports::secrets::secret_reference(secrets[0]), "S")
        .replace(&ports::secrets::secret_reference(secrets[1]), "S");
    assert_eq!(shown, "{user}/S/{unknown}/{S}/{}/{open");
    assert!(stored_secrets.iter().all(|(_, value)| value == "{fixed}"), "values must not be expanded again");
    assert!(plan.inputs[0].secret, "a variable in a secret value must be secret");
    let place = PlanPlace::Variable { name: "TARGET".to_owned() };
    let unknown = InstallNote::UndeclaredInput { place, variable: "{unknown}".to_owned() };
    assert!(plan.notes.contains(&unknown), "{:?}", plan.notes);
}

#[test]
fn publisher_cannot_reference_secrets_of_the_app() {
    let secret = "${secret:github.Authorization}";
    let variable = |value: Value| npm_package(&json!({ "environmentVariables": [value] }));
    let cases = [
        variable(json!({ "name": "A", "value": secret })),
        variable(json!({ "name": "A", "default": secret })),
        variable(json!({ "name": "A", "choices": [secret] })),
        variable(json!({ "name": "A", "value": "{v}", "variables": { "v": { "value": secret } } })),
        // Each part is harmless on its own.
        variable(json!({ "name": "A", "value": "${{v}", "variables": { "v": { "default": "secret:github.A}" } } })),
        variable(json!({ "name": "A", "value": "${{v}}", "variables": { "v": {} } })),
        variable(json!({ "name": "A", "value": "${v}", "variables": { "v": { "default": "{secret:github.A}" } } })),
        variable(
            json!({ "name": "A", "value": "${v}", "variables": { "v": { "choices": ["a", "{secret:github.A}"] } } }),
        ),
        variable(
            json!({ "name": "A", "value": "{v}{w}", "variables": { "v": { "default": "${sec" }, "w": { "default": "ret:github.A}" } } }),
        ),
        variable(
            json!({ "name": "A", "value": "{v}{w}", "variables": { "v": { "default": "$" }, "w": { "default": "{secret:github.A}" } } }),
        ),
        variable(
            json!({ "name": "A", "value": "${secret:{v}}", "variables": { "v": { "value": "github.Authorization" } } }),
        ),
    ];
    for described in cases {
        let refused = plan_package_json(&described);
        assert!(matches!(refused, Err(PlanError::NamesSecret(_))), "{described}: {refused:?}");
    }
    let harmless = ["${v}", "${OTHER}-{v}", "{v}$"];
    for value in harmless {
        package_plan(&variable(json!({ "name": "A", "value": value, "variables": { "v": { "default": "a{b}" } } })));
    }
    let header = json!({ "type": "sse", "url": "https://a.example", "headers": [{ "name": "A", "value": secret }] });
    assert!(matches!(plan_remote_json(&header), Err(PlanError::NamesSecret(_))));
}

#[test]
fn inputs_keep_their_description() {
    let described = npm_package(&json!({ "environmentVariables": [
        { "name": "MODE", "description": "How", "choices": ["fast", "safe"], "default": "safe", "placeholder": "fast" },
        { "name": "COUNT", "format": "number", "default": "many" },
        { "name": "PUBLIC", "value": "abc", "isSecret": true },
        { "name": "HIDDEN", "value": "a\u{202e}b" },
    ] }));
    let plan = package_plan(&described);
    let mode = &plan.inputs[0];
    assert_eq!((mode.description.as_deref(), mode.placeholder.as_deref()), (Some("How"), Some("fast")));
    assert_eq!((mode.default.join(","), mode.choices.join(",")), ("safe".to_owned(), "fast,safe".to_owned()));
    let wrong = plan.fill(&input_values(&[("MODE", &["other"])]), None).unwrap_err();
    assert!(wrong.to_string().contains(&InputProblem::NotAChoice.to_string()), "{wrong}");
    assert!(plan.inputs[1].default.is_empty());
    for expected in
        ["the default of COUNT is omitted", "PUBLIC is marked as a secret", "HIDDEN has invisible characters"]
    {
        assert!(notes_text(&plan).contains(expected), "{expected}: {:?}", plan.notes);
    }
    assert_eq!(filled_stdio(&plan, &[]).env["HIDDEN"], "a\u{202e}b", "the variable must have the unescaped value");
}

#[test]
fn different_inputs_of_one_name_are_separated() {
    let header = |name: &str, description: &str| json!({ "name": name, "value": "{key}", "variables": { "key": { "description": description } } });
    let described = json!({ "type": "sse", "url": "https://a.example", "headers": [header("A", "x"), header("B", "x"), header("C", "y")] });
    let keys: Vec<String> = plan_remote_json(&described).unwrap().inputs.into_iter().map(|input| input.key).collect();
    assert_eq!(keys, ["key", "key-2"]);
    let positional = json!({ "type": "positional", "valueHint": "file" });
    let keys: Vec<String> = package_plan(&npm_package(&json!({ "packageArguments": [positional, positional] })))
        .inputs
        .into_iter()
        .map(|i| i.key)
        .collect();
    assert_eq!(keys, ["file", "file-2"], "two arguments must have two inputs");
    let many = |count: usize| (0..count).map(|n| json!({ "name": format!("V{n}") })).collect::<Vec<_>>();
    let arguments = |count: usize| vec![positional.clone(); count];
    package_plan(&npm_package(&json!({ "environmentVariables": many(100), "packageArguments": arguments(100) })));
    let refused = plan_package_json(&npm_package(
        &json!({ "environmentVariables": many(101), "packageArguments": arguments(100) }),
    ));
    assert_eq!(refused, Err(PlanError::TooManyInputs));
}

#[test]
fn bundle_is_a_download_with_its_hash() {
    let hash = "AB".repeat(32);
    let url = "https://github.com/alice/notes/releases/download/v1/notes.mcpb";
    let bundle = |url: &str, hash: Value| {
        plan_package_json(&json!({ "registryType": "mcpb", "identifier": url, "fileSha256": hash }))
    };
    let Ok(PackageInstall::Bundle(download)) = bundle(url, json!(hash)) else { panic!("expected a bundle") };
    assert_eq!((download.url.as_str(), download.sha256), (url, hash.to_ascii_lowercase()));
    for wrong in [Value::Null, json!("ab"), json!("zz".repeat(32)), json!("")] {
        assert_eq!(bundle(url, wrong.clone()), Err(PlanError::NoHash), "{wrong}");
    }
    for wrong in ["http://a.example/x.mcpb", "file:///etc/passwd", "https://ann:pass@a.example/x", "notes.mcpb"] {
        assert!(matches!(bundle(wrong, json!(hash)), Err(PlanError::Address(..))), "{wrong}");
    }
}
