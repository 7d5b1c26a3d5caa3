//! Tests of plans: the command that a bundle would run.

use std::path::Path;

use bundles::{Bundle, BundleEnvironment, BundlePlan, PlanError, Platform, ProgramLocation, plan};
use installs::{FillError, InputProblem, InputValues, InstallNote};
use ports::server_config::StdioConfig;
use serde_json::{Value, json};

use crate::sample::{BundleFolder, node_manifest, zip_with_manifest};
use crate::zip_writer::ZipEntry;

fn test_environment() -> BundleEnvironment {
    BundleEnvironment {
        platform: Platform::Linux,
        folder: "/apps/notes".into(),
        home: "/home/ann".into(),
        desktop: "/home/ann/Desktop".into(),
        documents: "/home/ann/${user_config.a}".into(),
        downloads: "/home/ann/Downloads".into(),
        node: Some("v20.1.0".to_owned()),
        python: None,
    }
}

fn bundle_with_config(config: Value, inputs: Value) -> Bundle {
    let mut manifest = node_manifest("0.3");
    manifest["server"]["mcp_config"] = config;
    manifest["user_config"] = inputs;
    let zip = zip_with_manifest(&manifest)
        .add_entry(ZipEntry::file("bin/notes", b"").mode(0o100_755))
        .add_entry(ZipEntry::file("bin/win.exe", b""));
    BundleFolder::with_file(&zip.to_bytes()).open().unwrap()
}

fn plan_bundle(config: Value, inputs: Value) -> BundlePlan {
    plan(&bundle_with_config(config, inputs), &test_environment()).unwrap()
}

fn fill_plan(plan: &BundlePlan, values: &[(&str, &[&str])]) -> Result<StdioConfig, FillError> {
    let owned = |(key, values): &(&str, &[&str])| ((*key).to_owned(), values.iter().map(|v| (*v).to_owned()).collect());
    let values: InputValues = values.iter().map(owned).collect();
    let new = plan.install.fill(&values, None)?;
    Ok(new.entry.config.as_stdio().unwrap().clone())
}

#[test]
fn variables_are_expanded_once() {
    let args = json!([
        "${__dirname}/server/index.js",
        "--home=${HOME}${/}x${pathSeparator}",
        "${DESKTOP}:${DOWNLOADS}",
        "${DOCUMENTS}",
        "${user_config.a}",
        "<${user_config.a}>",
        "${unknown} ${${HOME}} ${",
        "$${HOME}",
    ]);
    let plan =
        plan_bundle(json!({ "command": "node", "args": args }), json!({ "a": { "type": "string", "title": "A" } }));
    let args = fill_plan(&plan, &[("a", &["${HOME} $& ${user_config.a}"])]).unwrap().args;
    assert_eq!(
        args,
        [
            "/apps/notes/server/index.js",
            "--home=/home/ann/x/",
            "/home/ann/Desktop:/home/ann/Downloads",
            "/home/ann/${user_config.a}",
            "${HOME} $& ${user_config.a}",
            "<${HOME} $& ${user_config.a}>",
            "${unknown} ${/home/ann} ${",
            "$/home/ann",
        ]
    );
    let is_unknown =
        |note: &InstallNote| matches!(note, InstallNote::UnknownReference { text } if text.starts_with("${unknown}"));
    assert!(plan.install.notes.iter().any(is_unknown), "{:?}", plan.install.notes);
    assert_eq!(plan.watched.iter().collect::<Vec<_>>(), ["server/index.js"]);
}

#[test]
fn values_of_all_types_are_filled_in() {
    let inputs = json!({
        "dirs": { "type": "directory", "multiple": true, "default": ["${HOME}/a", "${DESKTOP}"] },
        "file": { "type": "file" },
        "port": { "type": "number", "min": 1, "max": 9, "default": 3.5 },
        "on": { "type": "boolean", "default": true },
        "key": { "type": "string", "sensitive": true, "required": true },
        "odd": { "type": "colour" },
    });
    let args =
        json!(["${user_config.dirs}", "--file=${user_config.file}", "${user_config.port}", "${user_config.none}"]);
    let env = json!({ "ON": "${user_config.on}", "KEY": "${user_config.key}", "ODD": "${user_config.odd}", "D": "${user_config.dirs}" });
    let plan = plan_bundle(json!({ "command": "node", "args": args, "env": env }), inputs);
    let keys: Vec<_> = plan.install.inputs.iter().map(|input| input.key.as_str()).collect();
    assert_eq!(keys, ["dirs", "file", "port", "on", "key", "odd"], "inputs must be in the order of the manifest");

    let missing = fill_plan(&plan, &[]).unwrap_err();
    assert_eq!(missing, FillError::Inputs([("key".to_owned(), InputProblem::Missing)].into()));
    let server = fill_plan(&plan, &[("key", &["k"])]).unwrap();
    assert_eq!(server.args, ["/home/ann/a", "/home/ann/Desktop", "3.5"], "arguments without a value are omitted");
    let env: Vec<_> = server.env.iter().map(|(name, value)| format!("{name}={value}")).collect();
    assert_eq!(env, ["D=/home/ann/a", "ON=true"], "the secret must not be in the environment of the settings");
    let wrong =
        fill_plan(&plan, &[("key", &["k"]), ("port", &["10"]), ("on", &["yes"]), ("file", &["a"])]).unwrap_err();
    let FillError::Inputs(wrong) = wrong else { panic!("{wrong:?}") };
    assert_eq!(wrong.keys().collect::<Vec<_>>(), ["file", "on", "port"]);
    let owned = str::to_owned;
    for note in [
        InstallNote::MissingSetting { text: owned("${user_config.none}"), setting: owned("none") },
        InstallNote::FirstValueOnly { variable: owned("D"), setting: owned("dirs") },
    ] {
        assert!(plan.install.notes.contains(&note), "{:?}", plan.install.notes);
    }
}

#[test]
fn programs_inside_and_outside_the_bundle_are_located() {
    let program = |command: &str| plan_bundle(json!({ "command": command }), Value::Null);
    for inside in ["${__dirname}/bin/notes", "bin/notes", "./bin/notes"] {
        let plan = program(inside);
        assert_eq!(plan.program, ProgramLocation::Inside("bin/notes".to_owned()));
        assert_eq!(fill_plan(&plan, &[]).unwrap().command, "/apps/notes/bin/notes");
        assert!(plan.install.notes.is_empty(), "{:?}", plan.install.notes);
        assert!(plan.watched.contains("bin/notes"));
    }
    for runtime in ["node", "python", "python3", "uv", "npx", "uvx", "docker"] {
        let plan = program(runtime);
        assert_eq!(plan.program, ProgramLocation::Runtime(runtime.to_owned()));
        let loads = ["npx", "uvx", "docker"].contains(&runtime);
        let is_load = |note: &InstallNote| matches!(note, InstallNote::LoadsOverNetwork { .. });
        assert_eq!(plan.install.notes.iter().any(is_load), loads, "{runtime}");
    }
    for foreign in ["bash", "/bin/sh", "/apps/notes-other/bin/notes", "${HOME}/bin/x", "C:\\x.exe"] {
        let plan = program(foreign);
        assert!(matches!(plan.program, ProgramLocation::Foreign(_)), "{foreign}: {:?}", plan.program);
        assert!(matches!(plan.install.notes[0], InstallNote::ProgramOutside { .. }), "{:?}", plan.install.notes);
    }
    let error = |command: &str| {
        plan(&bundle_with_config(json!({ "command": command }), Value::Null), &test_environment()).unwrap_err()
    };
    for missing in ["bin/other", "${__dirname}/../../bin/sh", "../notes/bin/notes", "${__dirname}/bin"] {
        assert!(matches!(error(missing), PlanError::MissingProgram(_)), "{missing}");
    }
    assert_eq!(error("${user_config.a}"), PlanError::InputInCommand);
}

#[test]
fn code_loaded_from_elsewhere_is_noted() {
    let notes = |config: Value| {
        let plan = plan_bundle(config, Value::Null);
        plan.install.notes.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ")
    };
    for config in [
        json!({ "command": "uv", "args": ["tool", "run", "notes"] }),
        json!({ "command": "uv", "args": ["run", "--with", "notes", "notes"] }),
        json!({ "command": "npm", "args": ["exec", "notes"] }),
        json!({ "command": "sh", "args": ["-c", "npx -y notes"] }),
    ] {
        assert!(notes(config.clone()).contains("over the network"), "{config}");
    }
    let code = json!({ "command": "node", "args": ["${__dirname}/server/index.js"] });
    assert_eq!(notes(code), "");
    for name in ["NODE_OPTIONS", "npm_config_registry", "PYTHONPATH", "LD_PRELOAD"] {
        let found = notes(json!({ "command": "node", "env": { name: "x", "REGION": "eu" } }));
        assert!(found.ends_with(&format!("or where it is loaded from: \"{name}\"")), "{found}");
    }
}

#[test]
fn platform_overrides_are_applied() {
    let config = json!({
        "command": "bin/notes",
        "args": ["a"],
        "env": { "A": "1", "B": "2" },
        "platform_overrides": {
            "win32": { "command": "bin\\win", "env": { "C": "3" } },
            "darwin": { "args": [] },
        },
    });
    let server = |platform, folder: &str| {
        let place = BundleEnvironment { platform, folder: folder.into(), ..test_environment() };
        plan(&bundle_with_config(config.clone(), Value::Null), &place)
    };
    // Paths of bundles have slashes on every system.
    assert!(matches!(server(Platform::Windows, "C:\\apps"), Err(PlanError::MissingProgram(_))));
    let mac = fill_plan(&server(Platform::MacOs, "/apps").unwrap(), &[]).unwrap();
    assert_eq!((mac.args.len(), mac.env.len()), (0, 2));
    let linux = fill_plan(&server(Platform::Linux, "/apps").unwrap(), &[]).unwrap();
    assert_eq!((linux.args.len(), linux.env.len()), (1, 2));

    let windows =
        BundleEnvironment { platform: Platform::Windows, folder: "C:\\apps\\notes".into(), ..test_environment() };
    let config =
        json!({ "command": "${__dirname}/bin/win", "platform_overrides": { "win32": { "env": { "C": "3" } } } });
    let windows = plan(&bundle_with_config(config, Value::Null), &windows).unwrap();
    let server = fill_plan(&windows, &[]).unwrap();
    assert_eq!(server.command, "C:\\apps\\notes\\bin\\win.exe");
    assert_eq!(server.env.keys().collect::<Vec<_>>(), ["C"], "the variables of a platform must replace all others");
}

#[test]
fn incompatible_platform_or_runtime_is_noted_and_not_rejected() {
    let mut manifest = node_manifest("0.4");
    manifest["server"]["type"] = "uv".into();
    manifest["compatibility"] = json!({
        "platforms": ["darwin"],
        "runtimes": { "node": ">=22", "python": ">=3.10" },
        "claude_desktop": ">=99",
    });
    let bundle = BundleFolder::with_file(&zip_with_manifest(&manifest).to_bytes()).open().unwrap();
    let planned = plan(&bundle, &test_environment()).unwrap();
    let env = fill_plan(&planned, &[]).unwrap().env;
    assert_eq!(env["PYTHONDONTWRITEBYTECODE"], "1", "Python must not write its cache next to the code");
    assert_eq!(env["UV_ISOLATED"], "1", "uv must not create an environment in the folder of the bundle");
    assert_eq!(
        planned.install.notes,
        [
            InstallNote::UvPackages,
            InstallNote::OtherPlatforms { platforms: vec!["darwin".to_owned()], own: "linux".to_owned() },
            InstallNote::RuntimeMismatch {
                runtime: "Node".to_owned(),
                range: ">=22".to_owned(),
                version: "v20.1.0".to_owned(),
            },
            InstallNote::RuntimeNeeded { runtime: "Python".to_owned(), range: ">=3.10".to_owned() },
        ]
    );
}

#[test]
fn secret_references_in_a_bundle_are_rejected() {
    for config in [
        json!({ "command": "node", "env": { "A": "${secret:github.TOKEN}" } }),
        json!({ "command": "node", "args": ["x${secret:github.TOKEN}"] }),
        json!({ "command": "node", "env": { "A": "${secret:${user_config.a}" } }),
    ] {
        let error = plan(&bundle_with_config(config, Value::Null), &test_environment()).unwrap_err();
        assert!(matches!(error, PlanError::ReferencesSecret(_)), "{error:?}");
    }
    // The default values of settings form a reference to a secret, though each of them is harmless separately.
    let text = |default: &str| json!({ "type": "string", "default": default });
    for (value, a, b) in [
        ("${user_config.a}", "${secret:github.TOKEN}", ""),
        ("${${user_config.a}", "secret:github.TOKEN}", ""),
        ("${${user_config.a}}", "", ""),
        ("$${user_config.a}", "{secret:github.TOKEN}", ""),
        ("${user_config.a}${user_config.b}", "${sec", "ret:github.TOKEN}"),
        ("${user_config.a}${user_config.b}", "$", "{secret:github.TOKEN}"),
    ] {
        let config = json!({ "command": "node", "env": { "A": value } });
        let bundle = bundle_with_config(config, json!({ "a": text(a), "b": text(b) }));
        let error = plan(&bundle, &test_environment()).unwrap_err();
        assert!(matches!(error, PlanError::ReferencesSecret(_)), "{value}: {error:?}");
    }
    let harmless =
        json!({ "command": "node", "args": ["$${user_config.a}", "${x}${user_config.a}", "${user_config.a}$"] });
    plan_bundle(harmless, json!({ "a": text("a{b}") }));
}

#[test]
fn invalid_default_is_omitted() {
    let inputs = json!({
        "port": { "type": "number", "max": 9, "default": 10 },
        "name": { "type": "string", "default": ["a", "b"] },
        "folder": { "type": "directory", "default": "relative" },
    });
    let plan = plan_bundle(json!({ "command": "node", "args": ["${user_config.port}"] }), inputs);
    assert!(plan.install.inputs.iter().all(|input| input.default.is_empty()), "{:?}", plan.install.inputs);
    let omitted: Vec<&str> = plan
        .install
        .notes
        .iter()
        .filter_map(|note| match note {
            InstallNote::DefaultOmitted { input, .. } => Some(input.as_str()),
            _ => None,
        })
        .collect();
    assert_eq!(omitted, ["port", "name", "folder"]);
    assert_eq!(fill_plan(&plan, &[]).unwrap().args, [""; 0], "the settings must be computed without the omitted input");
}

#[test]
fn unpacked_folder_is_below_the_root_for_any_name() {
    for (name, expected) in
        [("../../Evil Näme", "evil-n-me-"), ("...", "bundle-"), ("漢字", "bundle-"), ("con", "con-")]
    {
        let mut manifest = node_manifest("0.3");
        manifest["name"] = name.into();
        let bundle = BundleFolder::with_file(&zip_with_manifest(&manifest).to_bytes()).open().unwrap();
        let folder = bundle.unpacked_folder(Path::new("/root"));
        assert_eq!(folder.parent(), Some(Path::new("/root")));
        let name = folder.file_name().unwrap().to_str().unwrap().to_owned();
        assert!(name.starts_with(expected) && name.ends_with(&bundle.archive.sha256()[..16]), "{name}");
    }
}
