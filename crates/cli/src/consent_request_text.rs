//! Describes consent requests: the originator, the reason, and the exact payload. Each line of text from a server
//! starts with a vertical bar.

use api::data::{
    CallKind, ConsentRequest, ConsentRequestBody, ConsentRequestOrigin, Content, EarlierApproval, FolderAccess,
    LaunchFileWriteAccess, ReadContent, ReadContentKind, ResourceLimits, SandboxFolder, SandboxNetwork, SandboxPlan,
    UrlParts, UrlWarning,
};
use serde_json::Value;

use crate::endpoints;
use crate::form::form_field_text;
use crate::launch_files;
use crate::packages;
use crate::review_marks_text;
use crate::sampling_text;
use crate::sign_in_text;
use crate::terminal_escape::{escape_and_prefix_lines, escape_line, escape_value, pretty_json};

/// Prefix of each line of a server's text, so that such text can't imitate output of the program.
pub(crate) const SERVER_TEXT_PREFIX: &str = "  │ ";

/// Describes what a sandboxed server can access, on several lines.
pub(crate) fn sandbox_text(plan: &SandboxPlan) -> String {
    let SandboxPlan { mechanism, folders, program, system, home, hidden, network, limits } = plan;
    let mut text = format!("sandbox     {}\n", escape_line(mechanism));
    for SandboxFolder { path, access } in folders {
        let may = if *access == FolderAccess::Write { "may change" } else { "may read" };
        text.push_str(&format!("{may:<11} {}\n", escape_line(path)));
    }
    text.push_str(&format!("may change  {} (its own home)\n", escape_line(home)));
    for path in program {
        text.push_str(&format!("may read    {} (its program)\n", escape_line(path)));
    }
    text.push_str(&format!("may read    {} (the system's)\n", escape_line(&system.join(" "))));
    for path in hidden {
        text.push_str(&format!("not reached {} (Drawbridge's own)\n", escape_line(path)));
    }
    match network {
        SandboxNetwork::FilesOnly => text.push_str("network     none\n"),
        SandboxNetwork::Full => text.push_str("network     all of it\n"),
        SandboxNetwork::NamedHosts { hosts } => {
            text.push_str("network     these hosts only, through Drawbridge's proxy\n");
            for host in hosts {
                text.push_str(&format!("host        {}\n", escape_line(host)));
            }
        }
    }
    text.push_str(&resource_limits_text(limits));
    text
}

fn resource_limits_text(limits: &ResourceLimits) -> String {
    let ResourceLimits { processes, memory_bytes, home_bytes, processor_seconds } = limits;
    let mib = |bytes: &u64| bytes / (1024 * 1024);
    format!(
        "stopped at  {processes} processes and threads, {} MiB of memory, {} MiB in its own home, {} minutes of processor time in an hour\n",
        mib(memory_bytes),
        mib(home_bytes),
        processor_seconds / 60
    )
}

/// Describes files that a server appears to need but could not access in its sandbox.
pub(crate) fn inaccessible_files_text(missing: &[String]) -> String {
    missing.iter().map(|one| format!("WARNING     {}\n", escape_line(one))).collect()
}

/// Describes an earlier approval that doesn't cover the request, and how it differs. `unnamed` names the data that must
/// have changed if the texts of both are equal, such as files.
fn earlier_approval_text(earlier: &EarlierApproval, unnamed: &str) -> String {
    if earlier.approved == earlier.requested {
        return format!(
            "  CHANGED: {} was approved before, but its {unnamed} changed",
            escape_line(&earlier.requested)
        );
    }
    format!("  CHANGED: approved before was  {}", escape_line(&earlier.approved))
}

/// Describes a consent request, but not the choices that the user has.
pub(crate) fn consent_request_text(request: &ConsentRequest) -> String {
    let server = escape_line(&request.server);
    let mut text = String::from("\n");
    let mut add = |words: String| {
        let words = words.trim_end_matches('\n');
        if !words.is_empty() {
            text.push_str(words);
            text.push('\n');
        }
    };
    match &request.body {
        ConsentRequestBody::StartServer {
            command,
            resolved,
            args,
            env,
            cwd,
            earlier_approval,
            sandbox,
            files,
            writers,
            package,
        } => {
            let reach = if sandbox.is_some() { "in a sandbox" } else { "with all your permissions" };
            add(format!("── Start the server {server}? This program would run, {reach}:"));
            add(format!("  program     {}", escape_value(command)));
            if let Some(resolved) = resolved {
                add(format!("  found at    {}", escape_line(resolved)));
            }
            for (number, arg) in (1..).zip(args) {
                add(format!("  argument {number:<2} {}", escape_value(arg)));
            }
            for (name, content) in env {
                add(format!("  variable    {}={}", escape_line(name), escape_value(content)));
            }
            add(format!("  folder      {}", escape_value(cwd)));
            if let Some(package) = package {
                add(escape_and_prefix_lines(&packages::package_text(package), "  "));
            }
            if let Some(plan) = sandbox {
                add(escape_and_prefix_lines(&self::sandbox_text(plan), "  "));
            }
            add(escape_and_prefix_lines(&launch_files::launch_files_text(files), "  "));
            for LaunchFileWriteAccess { server, file, folder } in writers {
                let (server, file, folder) = (escape_line(server), escape_line(file), escape_line(folder));
                add(format!("  WARNING: the server {server} may change {file}: its sandbox lets it write to {folder}"));
            }
            if let Some(earlier) = earlier_approval {
                add(earlier_approval_text(earlier, "variables' values, sandbox or files"));
            }
        }
        ConsentRequestBody::ConnectServer {
            url,
            headers,
            transport_kind,
            unencrypted,
            auth,
            unattended,
            earlier_approval,
        } => {
            add(format!("── Connect to the server {server}? Everything that you send to it is sent to this address:"));
            add(url_parts_text(url, *unencrypted));
            for header in headers {
                let value_source = if header.secret { "from the keychain" } else { "not shown" };
                add(format!("  header   {} (its value is {value_source})", escape_line(&header.name)));
            }
            if let Some(kind) = transport_kind {
                add(format!("  over     {}", crate::output::to_json_value(kind).as_str().unwrap_or_default()));
            }
            add(endpoints::sign_in_settings_text(auth, *unattended));
            if let Some(earlier) = earlier_approval {
                add(earlier_approval_text(earlier, "hidden values, transport or sign-in settings"));
            }
        }
        ConsentRequestBody::Tool {
            tool,
            description,
            claims,
            arguments,
            bytes,
            changed_since_allowed,
            definition,
            ..
        } => {
            add(format!("── Let {server} run its tool {} with this? ({bytes} bytes)", escape_line(tool)));
            add(escape_and_prefix_lines(&pretty_json(arguments), "  "));
            if let Some(description) = description {
                add(String::from("  The server says:"));
                add(escape_and_prefix_lines(description, SERVER_TEXT_PREFIX));
            }
            let hints: Vec<&str> = [
                (claims.read_only == Some(true), "changes nothing"),
                (claims.destructive == Some(true), "may be destructive"),
                (claims.open_world == Some(true), "may access external systems"),
            ]
            .iter()
            .filter_map(|(claimed, words)| claimed.then_some(*words))
            .collect();
            if !hints.is_empty() {
                add(format!("  It claims (unchecked): {}", hints.join(", ")));
            }
            if claims.asks_each_time {
                add(String::from("  This tool asks each time: an approval is for this call only."));
            }
            if *changed_since_allowed {
                add(String::from("  CHANGED: the definition of the tool changed since you allowed it."));
            }
            if let Some(definition) = definition {
                add(String::from("  Full definition. Allowing this marks it as reviewed:"));
                add(escape_and_prefix_lines(definition, SERVER_TEXT_PREFIX));
            }
        }
        ConsentRequestBody::Read { call_kind: CallKind::Prompt, name, arguments } => {
            add(format!("── Get the prompt {} of {server}? This would be sent:", escape_line(name)));
            add(pretty_json(arguments));
        }
        ConsentRequestBody::Read { name, .. } => {
            add(format!("── Read this of {server}?"));
            add(escape_and_prefix_lines(name, SERVER_TEXT_PREFIX));
        }
        ConsentRequestBody::Result { tool, app, content, is_error } => {
            let of_app = app.as_ref().map(|app| format!(" of the app {}", escape_line(app))).unwrap_or_default();
            add(format!("── Let the model read this result of {}{of_app} of {server}?", escape_line(tool)));
            for content in content {
                add(escape_and_prefix_lines(&content_text(content), SERVER_TEXT_PREFIX));
            }
            if *is_error {
                add(String::from("  The model will see that the call failed."));
            }
        }
        body @ ConsentRequestBody::Sampling { .. } => add(sampling_text::sampling_request_text(&server, body)),
        ConsentRequestBody::Form { message, fields, unsupported } => {
            add(format!("── {server} asks you to fill in a form. Its message:"));
            add(escape_and_prefix_lines(message, SERVER_TEXT_PREFIX));
            for field in fields {
                add(escape_and_prefix_lines(&form_field_text(field), "  "));
            }
            if let Some(unsupported) = unsupported {
                add(format!("  It can't be shown. Decline it: {}", escape_line(unsupported)));
            }
        }
        ConsentRequestBody::Url { message, url } => {
            add(format!("── {server} asks you to open an address in your browser. Its message:"));
            add(escape_and_prefix_lines(message, SERVER_TEXT_PREFIX));
            add(url_parts_text(url, true));
        }
        ConsentRequestBody::Roots => {
            add(format!("── {server} asks for your folders."));
        }
        body @ (ConsentRequestBody::SignIn { .. } | ConsentRequestBody::ClientId { .. }) => {
            add(sign_in_text::sign_in_request_text(&server, body, |url| url_parts_text(url, true)).unwrap_or_default());
        }
    }
    match &request.origin {
        ConsentRequestOrigin::Call { name, .. } => add(format!("  Why: your call of {}", escape_line(name))),
        ConsentRequestOrigin::Server => add(String::from("  Why: not specified")),
        ConsentRequestOrigin::Ended { cause } => {
            add(format!("  Why: it stopped, and was approved for one start: {}", escape_line(cause)))
        }
        ConsentRequestOrigin::Model { untrusted_servers: after, same_server_readings: read, .. } => {
            add(String::from("  Why: requested by a model"));
            if !after.is_empty() {
                add(format!("  WARNING: requested after untrusted output of {}", escape_line(&after.join(", "))));
            }
            if !read.is_empty() {
                let read: Vec<String> = read.iter().map(content_read_by_model_text).collect();
                add(format!("  WARNING: requested after untrusted content of {server} itself: {}", read.join(", ")));
            }
        }
        ConsentRequestOrigin::App { tool, .. } => add(format!("  Why: requested by the app of {}", escape_line(tool))),
        ConsentRequestOrigin::User { .. } => {}
    }
    add(review_marks_text::review_warnings_text(&request.marks));
    text
}

/// Describes content that a model has read: its kind and name.
pub(crate) fn content_read_by_model_text(content: &ReadContent) -> String {
    let name = escape_line(&content.name);
    match content.kind {
        ReadContentKind::Tool => format!("the output of the tool {name}"),
        ReadContentKind::Prompt => format!("the prompt {name}"),
        ReadContentKind::Resource => format!("the resource {name}"),
        ReadContentKind::Unknown => String::from("content that an older version did not record"),
    }
}

/// Describes a content block: text is included unchanged, and other content by its type and size.
pub(crate) fn content_text(content: &Content) -> String {
    let bytes = |base64: &str| base64.len() / 4 * 3;
    match content {
        Content::Text { text } => text.clone(),
        Content::Image { data, mime_type } => format!("[image, {mime_type}, about {} bytes]", bytes(data)),
        Content::Audio { data, mime_type } => format!("[audio, {mime_type}, about {} bytes]", bytes(data)),
        Content::ResourceLink { uri, name, .. } => format!("[link to {name}: {uri}]"),
        Content::Resource { contents } => match (&contents.text, &contents.blob) {
            (Some(text), _) => format!("[resource {}]\n{text}", contents.uri),
            (None, Some(blob)) => format!("[resource {}, about {} bytes]", contents.uri, bytes(blob)),
            (None, None) => format!("[resource {}, empty]", contents.uri),
        },
        Content::Unknown { json } => json_text(json),
    }
}

fn json_text(json: &Value) -> String {
    pretty_json(json)
}

/// Describes a URL with its warnings. Includes the warning about missing encryption only if `unencrypted_matters`,
/// since it does not apply to URLs on this computer.
fn url_parts_text(url: &UrlParts, unencrypted_matters: bool) -> String {
    let mut text = format!("  address  {}\n", escape_line(&url.url));
    if url.openable {
        text.push_str(&format!("  domain   {}\n", escape_line(&url.domain)));
    } else {
        text.push_str("  It can't be opened and only be declined.\n");
    }
    if let Some(ascii) = &url.ascii_host {
        text.push_str(&format!("  host     {}\n", escape_line(ascii)));
    }
    for warning in url.warnings.iter().filter(|w| **w != UrlWarning::NotEncrypted || unencrypted_matters) {
        text.push_str(match warning {
            UrlWarning::NotEncrypted => "  WARNING: it is not encrypted; others can read along\n",
            UrlWarning::UserInformation => {
                "  WARNING: there is a user name before the host, which may look like a host\n"
            }
            UrlWarning::Internationalized => "  WARNING: the host's letters may look like others\n",
            UrlWarning::IpAddress => "  WARNING: the host is an address and not a name\n",
            UrlWarning::Local => "  WARNING: it leads to this computer or the local network\n",
            UrlWarning::NotAllowed => "  WARNING: it is not an http or https address\n",
        });
    }
    text
}
