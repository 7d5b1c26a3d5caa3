//! Tests of decoding: valid lines, and the cause of each kind of invalid line.

use bytes::Bytes;
use mcp_proto::*;
use serde_json::json;

fn decode(line: impl AsRef<[u8]>) -> Result<IncomingMessage, InvalidMessage> {
    IncomingMessage::decode(&Bytes::copy_from_slice(line.as_ref()))
}

#[test]
fn valid_json_rpc_lines_are_parsed() {
    for line in [
        r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#,
        "\u{feff}{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}",
        "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\r\n",
        "  \t{ \"method\" : \"ping\" , \"id\" : 1 , \"jsonrpc\" : \"2.0\" } ",
        r#"{"jsonrpc":"2.0","id":1,"method":"ping","params":null,"unknown":[1],"unknown":2}"#,
        r#"{"\u006asonrpc":"2.0","\u0069d":1,"method":"ping"}"#,
    ] {
        let read = decode(line);
        assert!(
            matches!(&read, Ok(IncomingMessage::Request { id: RequestId::Number(1), method, params: None }) if method == "ping"),
            "X37: {line:?} must be a ping, not {read:?}"
        );
    }
    let text = r#"{"jsonrpc":"2.0","id":"a","result":{"t":"\ud83d\ude00 \u0000 \\u005cud800"}}"#;
    let Ok(IncomingMessage::Response { id, result: Ok(result) }) = decode(text) else {
        panic!("surrogate pairs must be valid")
    };
    assert_eq!(id, RequestId::from("a"), "[base-request-id-type]");
    let body: serde_json::Value = serde_json::from_str(result.get()).unwrap();
    assert_eq!(body["t"], "😀 \u{0} \\u005cud800", "X37: an escaped NUL must be valid");
    let null = decode(r#"{"jsonrpc":"2.0","id":1,"result":{},"error":null,"method":null}"#);
    assert!(
        matches!(null, Ok(IncomingMessage::Response { result: Ok(_), .. })),
        "fields written as null must count as absent: {null:?}"
    );
    let error = decode(r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"?"},"result":null}"#);
    assert!(matches!(error, Ok(IncomingMessage::ErrorWithoutId { .. })), "[base-error-without-id]: {error:?}");
}

#[test]
fn each_decoding_error_has_its_cause() {
    let deep =
        |levels: usize| format!(r#"{{"jsonrpc":"2.0","id":5,"result":{}{}}}"#, "[".repeat(levels), "]".repeat(levels));
    let many = format!(r#"{{"jsonrpc":"2.0","id":5,"result":[{}1]}}"#, "1,".repeat(600_000));
    let long_id = format!(r#"{{"jsonrpc":"2.0","id":"{}","result":{{}}}}"#, "x".repeat(5000));
    let of = |text: &str| text.as_bytes().to_vec();
    // Requirement, received line, expected cause, and `true` if the line must be recognized as the response to request
    // 5.
    let cases: Vec<(&str, Vec<u8>, &str, bool)> = vec![
        ("X38", of(&deep(128)), "TooDeep", true),
        ("X38", of(&deep(100_000)), "TooDeep", true),
        ("X37", of(&many), "TooManyValues", true),
        ("X37", of(r#"{"jsonrpc":"2.0","id":5,"result":{"a":"\ud800"}}"#), "LoneSurrogate", true),
        ("X37", of(r#"{"result":{"a":"\udc00\ud800"},"jsonrpc":"2.0","id":5}"#), "LoneSurrogate", true),
        ("X37", b"{\"jsonrpc\":\"2.0\",\"id\":5,\"result\":{\"a\":\"\xff\xfe\"}}".to_vec(), "NotUtf8(39)", true),
        ("X37", b"{\"jsonrpc\":\"2.0\",\"id\":5,\"result\":{\"a\":\"\0\"}}".to_vec(), "ControlCharacter(0)", true),
        ("X37", b"{\"jsonrpc\":\"2.0\",\"id\":5,\"result\":{\0}}".to_vec(), "NotJson", true),
        ("X37", b"\0\0\0\0".to_vec(), "UnexpectedBanner", false),
        ("X38", of(r#"{"jsonrpc":"2.0","id":5,"result":{},"result":{}}"#), "DuplicateKey(\"result\")", true),
        ("X38", of(r#"{"jsonrpc":"2.0","id":5,"id":5,"result":{}}"#), "DuplicateKey(\"id\")", true),
        ("X38", of(r#"{"jsonrpc":"2.0","id":5,"id":6,"result":{}}"#), "DuplicateKey(\"id\")", false),
        ("X38", of(r#"{"jsonrpc":"2.0","id":1.0,"result":{}}"#), "BadId", false),
        ("X38", of(r#"{"jsonrpc":"2.0","id":1e0,"result":{}}"#), "BadId", false),
        ("X38", of(r#"{"jsonrpc":"2.0","id":null,"result":{}}"#), "BadId", false),
        ("X38", of(r#"{"jsonrpc":"2.0","id":[5],"result":{}}"#), "BadId", false),
        ("X38", of(r#"{"jsonrpc":"2.0","id":99999999999999999999,"result":{}}"#), "BadId", false),
        ("X38", of(r#"{"jsonrpc":"2.0","result":{}}"#), "BadId", false),
        ("X38", of(&long_id), "BadId", false),
        ("[base-jsonrpc2]", of(r#"{"id":5,"result":{}}"#), "WrongVersion", true),
        ("[base-jsonrpc2]", of(r#"{"jsonrpc":"1.0","id":5,"result":{}}"#), "WrongVersion", true),
        ("[base-jsonrpc2]", of(r#"{"jsonrpc":2.0,"id":5,"result":{}}"#), "WrongVersion", true),
        (
            "[base-response-one-of]",
            of(r#"{"jsonrpc":"2.0","id":5,"result":{},"error":{"code":1,"message":""}}"#),
            "Ambiguous",
            true,
        ),
        ("[base-response-one-of]", of(r#"{"jsonrpc":"2.0","id":5}"#), "NotAMessage", true),
        ("[base-error-shape]", of(r#"{"jsonrpc":"2.0","id":5,"error":{"code":"x","message":""}}"#), "BadError", true),
        ("[base-error-shape]", of(r#"{"jsonrpc":"2.0","id":5,"error":7}"#), "BadError", true),
        ("truncated", of(r#"{"jsonrpc":"2.0","id":5,"result":{"a":"#), "NotJson", true),
        ("trailing text", of(r#"{"jsonrpc":"2.0","id":5,"result":{}}Content-Length: 5"#), "NotJson", true),
        ("single quotes", of("{'jsonrpc':'2.0'}"), "NotJson", false),
        ("X42", of("Content-Length: 120\r"), "LspHeader", false),
        ("X42", of("HTTP/1.1 200 OK"), "HttpText", false),
        ("X42", of("Server running on stdio"), "UnexpectedBanner", false),
        ("X42", of("[]"), "EmptyBatch", false),
        ("X42", of("[INFO] starting"), "NotJson", false),
        ("scalar", of("42"), "NotAnObject", false),
        ("scalar", of("\"text\""), "NotAnObject", false),
        ("a log line in JSON", of(r#"{"level":"info","id":5,"msg":"started"}"#), "WrongVersion", false),
        ("method of another type", of(r#"{"jsonrpc":"2.0","id":5,"method":7}"#), "BadMethod", false),
        ("method and result", of(r#"{"jsonrpc":"2.0","id":5,"method":"x","result":{}}"#), "Ambiguous", false),
        ("blank", of("  \r\n"), "Blank", false),
        ("nothing", vec![], "Blank", false),
    ];
    for (proves, line, cause, of_five) in cases {
        let shown = String::from_utf8_lossy(&line[..line.len().min(80)]).into_owned();
        let invalid = decode(&line).expect_err(&shown);
        let name = format!("{:?}", invalid.cause);
        assert!(name.starts_with(cause), "{proves}: {shown} must be {cause}, not {name}");
        assert_eq!(invalid.id, of_five.then_some(RequestId::Number(5)), "{proves}: request that {shown} answers");
        assert!(invalid.excerpt.chars().count() <= 200, "{proves}: the excerpt must be short");
        assert!(
            !invalid.excerpt.chars().any(char::is_control),
            "X11: control characters must be escaped in {:?}",
            invalid.excerpt
        );
        assert!(!invalid.to_string().is_empty(), "the cause must have a message");
    }
    assert!(decode(deep(127)).is_ok(), "X38: 128 levels must be accepted");
}

#[test]
fn malformed_server_requests_are_recognized_as_requests() {
    for line in [
        r#"{"jsonrpc":"1.0","id":9,"method":"roots/list"}"#,
        r#"{"jsonrpc":"2.0","id":9,"method":"x","params":{"a":"\ud800"}}"#,
        r#"{"jsonrpc":"2.0","id":9,"params":{"a":"\ud800"},"method":"x"}"#,
        r#"{"jsonrpc":"2.0","id":9,"method":5}"#,
    ] {
        let invalid = decode(line).expect_err(line);
        assert_eq!(invalid.peer_request, Some(RequestId::Number(9)), "{line} must count as a request");
        assert_eq!(invalid.id, None, "X38: {line} must not count as a response to request 9");
    }
}

#[test]
fn overlong_line_is_attributed_by_its_head_or_tail() {
    let head = |text: &str| InvalidMessage::too_long(text.as_bytes(), b"", 16, 17);
    assert_eq!(head(r#"{"jsonrpc":"2.0","id":5,"result":{"a":"xxxx"#).id, Some(5.into()), "X37: id at the beginning");
    let request = head(r#"{"jsonrpc":"2.0","id":5,"method":"x","params":{"a":"xxxx"#);
    assert_eq!((request.id, request.peer_request), (None, Some(5.into())), "X37: a request of the server");
    let last = head(r#"{"result":{"content":[{"id":7,"text":"xxx"#);
    assert_eq!((last.id.clone(), last.answer), (None, true), "X37: an id inside the result must be ignored");
    assert!(last.to_string().contains("more than 16 bytes"), "X37: the message must name the limit: {last}");
    for (tail, id) in [
        (r#"xxx"}]},"jsonrpc":"2.0","id":5}"#, Some(RequestId::Number(5))),
        (r#"xxx"}]},"id":5,"jsonrpc":"2.0"}"#, Some(RequestId::Number(5))),
        ("xxx\"}]},\"id\" : \"a:b\" }\r\n", None),
        (r#"xxx"}]},"id":"ab"}"#, Some(RequestId::from("ab"))),
        (r#"xxx","id":5}]}}"#, None),
        (r#"xxx","id":5"#, None),
        ("", None),
    ] {
        let found = InvalidMessage::too_long(br#"{"result":{"a":"x"#, tail.as_bytes(), 16, 99).id;
        assert_eq!(found, id, "X37: the id in {tail}");
    }
    let junk = InvalidMessage::too_long(b"aaaaaaaa", b"", 4, 8);
    assert!(junk.answer, "X37: endless text must count as a response");
}

#[test]
fn number_and_string_ids_differ() {
    assert_eq!(RequestId::Number(1).to_string(), "1", "a number");
    assert_eq!(RequestId::from("1").to_string(), "\"1\"", "a string");
    assert_ne!(RequestId::Number(1), RequestId::from("1"), "X38: ids of different types must differ");
    assert!(serde_json::from_value::<RequestId>(json!(1.0)).is_err(), "X38: 1.0 must be rejected");
}
