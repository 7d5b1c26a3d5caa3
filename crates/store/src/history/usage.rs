//! Sums up tokens and costs of the replies in a conversation. The database computes the sums, because there may be
//! thousands of long replies.

use domain::history::ConversationUsage;
use domain::item::{Cost, TokenUsage};
use rusqlite::{Connection, OptionalExtension as _, Row, params};

use super::history_tables::{self, sql_integer_to_u64};
use super::write::{ITEM_STATE_INTERRUPTED, ITEM_STATE_STREAMING};

/// Maximum number of items, from the end of a branch, that are searched for the latest reply with token counts. The
/// last items may be calls of that reply.
const MAX_ITEMS_SEARCHED_FOR_TOKEN_COUNTS: usize = 500;

/// Common table expression with the items of a conversation, each body decrypted once.
const CONVERSATION_ITEMS_SQL: &str = "WITH own AS MATERIALIZED (SELECT state, decrypted('body', body) AS body \
    FROM item INDEXED BY item_after WHERE conversation = ?1)";

/// Returns the token counts and costs of a conversation, or `None` if the conversation does not exist.
pub(super) fn conversation_usage(
    connection: &Connection,
    conversation: &str,
) -> rusqlite::Result<Option<ConversationUsage>> {
    let Some((conversation, head)) = history_tables::conversation_and_head_row_numbers(connection, conversation)?
    else {
        return Ok(None);
    };
    let (usage, unpriced) = token_usage(connection, conversation)?;
    let costs = reply_costs(connection, conversation)?;
    Ok(Some(ConversationUsage { usage, costs, unpriced, context_used: latest_reply_tokens(connection, head)? }))
}

/// Returns the token counts of all replies, and the number of replies whose cost is unknown.
fn token_usage(connection: &Connection, conversation: i64) -> rusqlite::Result<(TokenUsage, u32)> {
    let sql = "SELECT sum(body ->> '$.usage.input'), sum(body ->> '$.usage.output'), sum(body ->> '$.usage.cachedInput'), \
            sum(body ->> '$.usage.writtenInput'), sum(body ->> '$.usage.thinking'), \
            count(*) FILTER (WHERE state <> ?2 AND (state = ?3 OR body ->> '$.cost.amount' IS NULL) AND (\
                json_array_length(body, '$.parts') > 0 OR body ->> '$.stop.is' = 'stopped' \
                OR body ->> '$.usage.input' IS NOT NULL OR body ->> '$.usage.output' IS NOT NULL)) \
        FROM own WHERE body ->> '$.kind' = 'reply'";
    let sql = format!("{CONVERSATION_ITEMS_SQL} {sql}");
    connection.prepare_cached(&sql)?.query_row(
        params![conversation, ITEM_STATE_STREAMING, ITEM_STATE_INTERRUPTED],
        |row| {
            let usage = TokenUsage {
                input: token_count(row, 0)?,
                output: token_count(row, 1)?,
                cached_input: token_count(row, 2)?,
                written_input: token_count(row, 3)?,
                thinking: token_count(row, 4)?,
            };
            Ok((usage, row.get(5)?))
        },
    )
}

fn reply_costs(connection: &Connection, conversation: i64) -> rusqlite::Result<Vec<Cost>> {
    let sql = "SELECT body ->> '$.cost.currency' AS currency, sum(body ->> '$.cost.amount') \
        FROM own WHERE body ->> '$.kind' = 'reply' AND body ->> '$.cost.amount' IS NOT NULL \
        GROUP BY currency ORDER BY currency";
    let mut statement = connection.prepare_cached(&format!("{CONVERSATION_ITEMS_SQL} {sql}"))?;
    let costs = statement.query_map([conversation], |row| Ok(Cost { currency: row.get(0)?, amount: row.get(1)? }))?;
    costs.collect()
}

/// Returns the number of input and output tokens of the latest reply in a branch whose token counts are known.
fn latest_reply_tokens(connection: &Connection, head: Option<i64>) -> rusqlite::Result<Option<u64>> {
    let sql = "WITH own AS MATERIALIZED (SELECT parent, decrypted('body', body) AS body FROM item WHERE number = ?1) \
        SELECT parent, body ->> '$.kind' = 'reply', body ->> '$.usage.input', body ->> '$.usage.output' FROM own";
    let mut statement = connection.prepare_cached(sql)?;
    let mut next = head;
    for _ in 0..MAX_ITEMS_SEARCHED_FOR_TOKEN_COUNTS {
        let Some(number) = next else { return Ok(None) };
        let read = |row: &Row<'_>| Ok((row.get(0)?, row.get(1)?, token_count(row, 2)?, token_count(row, 3)?));
        let found: Option<(Option<i64>, Option<bool>, _, _)> = statement.query_row([number], read).optional()?;
        let Some((parent, is_reply, input, output)) = found else { return Ok(None) };
        if let (Some(true), Some(input)) = (is_reply, input) {
            return Ok(Some(input + output.unwrap_or(0)));
        }
        next = parent;
    }
    Ok(None)
}

/// Reads a token count. The stored JSON value may have any type. Anything but an integer counts as absent.
fn token_count(row: &Row<'_>, at: usize) -> rusqlite::Result<Option<u64>> {
    Ok(match row.get_ref(at)? {
        rusqlite::types::ValueRef::Integer(number) => Some(sql_integer_to_u64(number)),
        _ => None,
    })
}
