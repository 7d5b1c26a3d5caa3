//! One run: the model answers, its calls are made, and it answers again with their results, until it wants no more calls.

use std::sync::{Arc, PoisonError};
use std::time::{Duration, Instant};

use futures_util::{StreamExt as _, stream};
use models::{Delta, ModelError, ModelRef, Part, Reply, Request, Usage};
use serde_json::{Map, Value};

use super::context;
use super::engine::{Answering, new_id};
use super::item::{Body, Cost, Item, Notice, Problem, ReplyPart, State, Stop, ToolResult, Used};
use super::log::Log;
use super::offered::{Offering, ServerForModel};
use super::own_tools::{self, SEARCH_TOOLS, Told};
use super::search::Index;
use super::stream::{Pieces, apply};
use super::{Bounds, ConversationError, Offered, Settings};
use crate::activity::now;
use crate::owner::CallOrigin;
use crate::view::{CallFailure, HostEvent};
use crate::{Host, output};

/// At least this long from one piece that is told to the next: two frames of the page.
const TELL_EVERY: Duration = Duration::from_millis(33);
/// At least this long from one writing of an answer that comes in to the next.
const WRITE_EVERY: Duration = Duration::from_millis(250);
/// The most calls of one answer that are under way at a time.
const PARALLEL_CALLS: usize = 8;
/// The most calls that one answer may ask for; the others are refused.
const MAX_CALLS: usize = 64;
/// How long calls that were cancelled may take to end.
const CANCELLING: Duration = Duration::from_secs(5);

/// A run.
pub(super) struct Run {
    host: Host,
    log: Log,
    answering: Answering,
    settings: Settings,
    model: ModelRef,
    /// What came before the answer.
    path: Vec<Item>,
    reply: Item,
    servers: Vec<(Offered, ServerForModel)>,
    offering: Arc<Offering>,
    index: Option<Index>,
    bounds: Bounds,
}

/// A call that a model asks for.
struct Wanted {
    id: String,
    key: String,
    arguments: Map<String, Value>,
}

/// A call to make.
struct Planned {
    item: Item,
    server: String,
    tool: String,
    arguments: Map<String, Value>,
}

impl Run {
    /// Begins an answer after an item.
    pub(super) async fn begin(
        host: Host,
        log: Log,
        answering: Answering,
        settings: Settings,
        model: ModelRef,
        parent: Option<String>,
    ) -> Result<Self, ConversationError> {
        let reply = new_reply(&model, parent);
        // Written first: what follows the parent from now on is this answer, and the path leads to it.
        log.write(vec![reply.clone()]).await?;
        let path = log.path(Some(reply.id.clone())).await?;
        let bounds = host.with(|owner| owner.conversation_bounds()).await?;
        let mut run = Self {
            host,
            log,
            answering,
            settings,
            model,
            path,
            reply,
            servers: Vec::new(),
            offering: Arc::default(),
            index: None,
            bounds,
        };
        run.show_reply().await;
        Ok(run)
    }

    /// The first answer.
    pub(super) fn reply_id(&self) -> &str {
        &self.reply.id
    }

    /// Runs to its end. What goes wrong stands in the answer.
    pub(super) async fn go(mut self) {
        for round in 1.. {
            let wanted = match self.answer().await {
                Ok(wanted) => wanted,
                Err(error) => {
                    self.fail(&error);
                    Vec::new()
                }
            };
            self.set_live(None);
            let goes_on = !wanted.is_empty() && !self.is_stopped();
            if let Err(error) = self.log.write(vec![self.reply.clone()]).await {
                tracing::error!(%error, "an answer could not be kept");
            }
            let reply = self.reply.clone();
            self.path.push(reply.clone());
            if wanted.is_empty() {
                return self.end(reply).await;
            }
            self.tell_item(reply, true).await;
            let last = self.make_calls(wanted).await;
            if !goes_on || self.is_stopped() {
                return self.end(last).await;
            }
            if round >= self.bounds.rounds {
                let notice = Body::Notice { notice: Notice::Rounds { rounds: round } };
                let item = new_item(Some(last.id), State::Whole, notice);
                if let Err(error) = self.log.write(vec![item.clone()]).await {
                    tracing::error!(%error, "the end of a run could not be kept");
                }
                return self.end(item).await;
            }
            self.reply = new_reply(&self.model, Some(last.id));
            if let Err(error) = self.log.write(vec![self.reply.clone()]).await {
                self.fail_with(error.to_string());
                let reply = self.reply.clone();
                return self.end(reply).await;
            }
            self.show_reply().await;
        }
    }

    /// Tells the last item of the run. The conversation is free for the next one before anybody hears of it.
    async fn end(self, item: Item) {
        let Self { host, log, answering, .. } = self;
        drop(answering);
        let conversation = log.conversation;
        let event =
            HostEvent::ItemChanged { conversation: conversation.clone(), item: Box::new(item), answering: false };
        // The host may be closing; then nobody listens.
        let _ = host.tell(event).await;
        let _ = host.conversations_changed(Some(conversation)).await;
    }

    fn is_stopped(&self) -> bool {
        self.answering.running.stop.is_cancelled()
    }

    fn set_live(&self, live: Option<(Item, u64)>) {
        *self.answering.running.live.lock().unwrap_or_else(PoisonError::into_inner) = live;
    }

    async fn show_reply(&mut self) {
        self.set_live(Some((self.reply.clone(), 0)));
        self.tell_item(self.reply.clone(), true).await;
    }

    async fn tell_item(&self, item: Item, answering: bool) {
        let conversation = self.log.conversation.clone();
        // The host may be closing; then nobody listens.
        let _ = self.host.tell(HostEvent::ItemChanged { conversation, item: Box::new(item), answering }).await;
    }

    fn fail(&mut self, error: &ConversationError) {
        match error {
            ConversationError::Model(error) => self.fail_as(Problem::from(error)),
            error => self.fail_with(error.to_string()),
        }
    }

    fn fail_with(&mut self, message: String) {
        self.fail_as(Problem { code: "internal".to_owned(), message });
    }

    fn fail_as(&mut self, problem: Problem) {
        if let Body::Reply { error, parts, .. } = &mut self.reply.body {
            *error = Some(problem);
            self.reply.state = if parts.is_empty() { State::Whole } else { State::Cut };
        }
    }

    /// Brings up to date what the model may use: servers come and go, and tools are reviewed while it works.
    async fn look_at_tools(&mut self) -> Result<(), ConversationError> {
        self.servers = self.host.servers_of(&self.settings.servers).await?;
        if !self.offering.rests_on(&self.servers) {
            let servers = self.servers.clone();
            let made = tokio::task::spawn_blocking(move || Offering::new(&servers)).await;
            self.offering = Arc::new(made.map_err(|_| ConversationError::Closing)?);
            self.index = None;
        }
        // A server's instructions are its words as well.
        let told =
            self.servers.iter().filter(|(offered, server)| offered.instructions && server.instructions.is_some());
        let told: Vec<String> = told.map(|(offered, _)| offered.server.clone()).collect();
        if !told.is_empty() {
            self.host.put_in(self.log.conversation.clone(), told, false).await?;
        }
        Ok(())
    }

    fn tools(&self, context: Option<u32>) -> Vec<models::Tool> {
        let mut tools: Vec<models::Tool> = if self.offering.tokens > self.bounds.threshold(context) {
            let mut servers: Vec<&str> = self.offering.offered().map(|tool| tool.server.as_str()).collect();
            servers.dedup();
            let found = own_tools::found_in(&self.path);
            let found = found.iter().filter_map(|key| self.offering.tool(key)?.definition().cloned());
            std::iter::once(own_tools::search_tool(self.offering.offered().count(), &servers)).chain(found).collect()
        } else {
            self.offering.offered().filter_map(|tool| tool.definition().cloned()).collect()
        };
        if context::has_left_out(&self.path) {
            tools.push(own_tools::read_tool());
        }
        tools
    }

    /// Asks the model and takes its answer in. Gives the calls that it asks for.
    async fn answer(&mut self) -> Result<Vec<Wanted>, ConversationError> {
        let began = Instant::now();
        self.look_at_tools().await?;
        let registry = self.host.models().await?;
        let known = registry.model(&self.model).cloned();
        let limit = usize::try_from(self.bounds.result_bytes).unwrap_or(usize::MAX);
        // A model that is known to take none would refuse the whole request.
        let takes_tools = known.as_ref().is_none_or(|model| model.takes.tools != Some(false));
        let context = known.as_ref().and_then(|model| model.context);
        let request = Request {
            system: context::system(&self.settings, &self.servers),
            messages: context::messages(&self.path, &self.model, limit),
            tools: if takes_tools { self.tools(context) } else { Vec::new() },
            thinking: self.settings.thinking,
            ..Request::default()
        };
        let losses = registry.cannot_carry(&self.model, &request)?;
        if let Body::Reply { conversions, .. } = &mut self.reply.body {
            *conversions = losses.iter().map(ToString::to_string).collect();
            if !takes_tools && self.offering.offered().next().is_some() {
                conversions.push("this model takes no tools: none are offered".to_owned());
            }
        }
        self.set_live(Some((self.reply.clone(), 0)));
        let stop = self.answering.running.stop.clone();
        let asked = tokio::select! {
            asked = registry.stream(&self.model, request) => asked,
            () = stop.cancelled() => return Ok(self.stopped(began, None)),
        };
        let (usage, first, ended) = match asked {
            Ok(deltas) => self.take_in(deltas, began).await?,
            Err(error) => (Usage::default(), None, Err(Some(error))),
        };
        let price = known.and_then(|model| model.price);
        if let Body::Reply { usage: own, cost, first_after, took, .. } = &mut self.reply.body {
            *own = ended.as_ref().map_or(usage, |reply| reply.usage);
            *cost =
                price.and_then(|price| price.of(own).map(|amount| Cost { amount, currency: price.currency.clone() }));
            *first_after = first;
            *took = millis(began);
        }
        match ended {
            Ok(reply) => Ok(self.take_whole(reply)),
            Err(None) => Ok(self.stopped(began, first)),
            Err(Some(error)) => Err(ConversationError::Model(error)),
        }
    }

    /// Takes the pieces of an answer in until its end, which is none if the user stopped it.
    async fn take_in(
        &mut self,
        mut deltas: models::Deltas,
        began: Instant,
    ) -> Result<(Usage, Option<u64>, Result<Reply, Option<ModelError>>), ConversationError> {
        let stop = self.answering.running.stop.clone();
        let (mut pieces, mut usage, mut first) = (Pieces::default(), Usage::default(), None);
        let (mut tell_at, mut write_at) = (tokio::time::Instant::now(), tokio::time::Instant::now() + WRITE_EVERY);
        let mut writing: Option<tokio::task::JoinHandle<()>> = None;
        let ended = loop {
            tokio::select! {
                biased;
                () = stop.cancelled() => break Err(None),
                () = tokio::time::sleep_until(tell_at), if pieces.is_pending() => {
                    self.tell_pieces(&mut pieces).await?;
                    tell_at = tokio::time::Instant::now() + TELL_EVERY;
                    if tell_at >= write_at && writing.as_ref().is_none_or(tokio::task::JoinHandle::is_finished) {
                        writing = Some(self.write_live());
                        write_at = tell_at + WRITE_EVERY;
                    }
                }
                delta = deltas.next() => match delta {
                    Some(Ok(Delta::Ended(reply))) => break Ok(reply),
                    Some(Ok(delta)) => {
                        let whose = |key: &str| {
                            self.offering.tool(key).map(|tool| (tool.server.clone(), tool.tool.clone()))
                        };
                        usage = pieces.take(delta, whose).unwrap_or(usage);
                        if first.is_none() && pieces.is_pending() {
                            first = Some(millis(began));
                        }
                    }
                    Some(Err(error)) => break Err(Some(error)),
                    None => break Err(Some(ModelError::Cut)),
                },
            }
        };
        if pieces.is_pending() {
            self.tell_pieces(&mut pieces).await?;
        }
        // What is written while it comes in must not come after what is written at its end.
        if let Some(writing) = writing {
            let _ = writing.await;
        }
        if let Some((live, _)) = &*self.answering.running.live.lock().unwrap_or_else(PoisonError::into_inner) {
            self.reply.body.clone_from(&live.body);
        }
        Ok((usage, first, ended))
    }

    async fn tell_pieces(&self, pieces: &mut Pieces) -> Result<(), ConversationError> {
        let append = pieces.told();
        let seq = {
            let mut live = self.answering.running.live.lock().unwrap_or_else(PoisonError::into_inner);
            let Some((item, seq)) = &mut *live else { return Ok(()) };
            if let Body::Reply { parts, .. } = &mut item.body {
                apply(parts, &append);
            }
            *seq += 1;
            *seq - 1
        };
        let (conversation, item) = (self.log.conversation.clone(), self.reply.id.clone());
        self.host.tell(HostEvent::ReplyDelta { conversation, item, seq, append }).await?;
        Ok(())
    }

    /// Writes the answer as far as it came, so that it is there if the program ends now.
    fn write_live(&self) -> tokio::task::JoinHandle<()> {
        let (log, running) = (self.log.clone(), Arc::clone(&self.answering.running));
        tokio::spawn(async move {
            let live = running.live.lock().unwrap_or_else(PoisonError::into_inner).clone();
            let Some((item, _)) = live else { return };
            if let Err(error) = log.write(vec![item]).await {
                tracing::warn!(%error, "an answer that comes in could not be kept");
            }
        })
    }

    /// The user stopped the answer: what came stays.
    fn stopped(&mut self, began: Instant, first: Option<u64>) -> Vec<Wanted> {
        if let Body::Reply { stop, first_after, took, .. } = &mut self.reply.body {
            (*stop, *first_after, *took) = (Some(Stop::Stopped), first, millis(began));
        }
        self.reply.state = State::Cut;
        Vec::new()
    }

    /// The answer as it counts, and the calls that it asks for.
    fn take_whole(&mut self, reply: Reply) -> Vec<Wanted> {
        let (mut whole, mut wanted, mut left_out) = (Vec::new(), Vec::new(), Vec::new());
        for part in reply.message.parts {
            match part {
                Part::Text(text) => whole.push(ReplyPart::Text { text }),
                Part::Thinking { text, opaque } => whole.push(ReplyPart::Thinking { text, opaque }),
                Part::ToolUse { id, name, arguments, opaque } => {
                    let tool = self.offering.tool(&name);
                    whole.push(ReplyPart::ToolUse {
                        id: id.clone(),
                        key: name.clone(),
                        server: tool.map(|tool| tool.server.clone()),
                        tool: tool.map(|tool| tool.tool.clone()),
                        arguments: Value::Object(arguments.clone()).to_string(),
                        opaque,
                    });
                    wanted.push(Wanted { id, key: name, arguments });
                }
                Part::Image { .. } => left_out.push("a picture that the model made: left out"),
                Part::Audio { .. } => left_out.push("a recording that the model made: left out"),
                Part::File { .. } | Part::ToolResult { .. } => left_out.push("a file that the model made: left out"),
            }
        }
        if let Body::Reply { parts, stop, conversions, .. } = &mut self.reply.body {
            *parts = whole;
            *stop = Some(reply.stop.into());
            conversions.extend(left_out.into_iter().map(str::to_owned));
        }
        self.reply.state = State::Whole;
        wanted
    }

    /// Makes the calls of the answer, several at a time. Each becomes an item; gives the last.
    async fn make_calls(&mut self, wanted: Vec<Wanted>) -> Item {
        let (mut items, mut planned, mut parent) = (Vec::new(), Vec::new(), self.reply.id.clone());
        for (number, wanted) in wanted.into_iter().enumerate() {
            let (item, call) = self.plan(wanted, &parent, number);
            parent.clone_from(&item.id);
            planned.extend(call.map(|(server, tool, arguments)| Planned {
                item: item.clone(),
                server,
                tool,
                arguments,
            }));
            items.push(item);
        }
        if let Err(error) = self.log.write(items.clone()).await {
            tracing::error!(%error, "calls could not be kept");
        }
        for item in &items {
            self.tell_item(item.clone(), true).await;
        }
        {
            let run = &*self;
            let mut made =
                stream::iter(planned.into_iter().map(|call| run.make_call(call))).buffer_unordered(PARALLEL_CALLS);
            while let Some(item) = made.next().await {
                if let Err(error) = run.log.write(vec![item.clone()]).await {
                    tracing::error!(%error, "how a call ended could not be kept");
                }
                run.tell_item(item.clone(), true).await;
                if let Some(place) = items.iter_mut().find(|other| other.id == item.id) {
                    *place = item;
                }
            }
        }
        let last = items.last().cloned();
        self.path.extend(items);
        last.unwrap_or_else(|| self.reply.clone())
    }

    /// A call as an item; and what is to be called, if it is a tool of a server.
    fn plan(
        &mut self,
        wanted: Wanted,
        parent: &str,
        number: usize,
    ) -> (Item, Option<(String, String, Map<String, Value>)>) {
        let Wanted { id, key, arguments } = wanted;
        let used = Used { reply: self.reply.id.clone(), id, key: key.clone() };
        let limit = usize::try_from(self.bounds.result_bytes).unwrap_or(usize::MAX);
        let told = match (key.as_str(), self.offering.tool(&key)) {
            _ if number >= MAX_CALLS => {
                Told::error(format!("not made: an answer may ask for {MAX_CALLS} calls at most"))
            }
            (_, Some(tool)) => {
                let (server, tool) = (tool.server.clone(), tool.tool.clone());
                let id = new_id();
                let body = Body::ToolCall {
                    call: id.clone(),
                    server: server.clone(),
                    tool: tool.clone(),
                    arguments: Value::Object(arguments.clone()),
                    result: None,
                    error: None,
                    took: 0,
                    used: Some(used),
                    left_out: None,
                };
                let item = Item { id, parent: Some(parent.to_owned()), at: now(), state: State::Streaming, body };
                return (item, Some((server, tool, arguments)));
            }
            (SEARCH_TOOLS, None) => {
                let offering = Arc::clone(&self.offering);
                let index = self.index.get_or_insert_with(|| offering.index());
                own_tools::search(&offering, index, &arguments)
            }
            (context::READ_RESULT, None) => own_tools::read_on(&self.path, &arguments, limit),
            _ => Told::error(format!("There is no tool {key:?} that you can use in this conversation.")),
        };
        let Told { text, found, is_error } = told;
        let body = Body::OwnTool { used, arguments: Value::Object(arguments), text, found, is_error };
        (new_item(Some(parent.to_owned()), State::Whole, body), None)
    }

    /// Makes one call; the policy, and where it says so the user, decide. Gives its item with how it ended.
    async fn make_call(&self, planned: Planned) -> Item {
        let Planned { mut item, server, tool, arguments } = planned;
        let began = Instant::now();
        let origin = CallOrigin::Model { conversation: self.log.conversation.clone() };
        let (id, stop) = (item.id.clone(), &self.answering.running.stop);
        let made = (id.clone(), server.clone(), tool.clone(), arguments.clone());
        let call = async {
            // What waited for its turn when the user stopped all of it is not made.
            if stop.is_cancelled() {
                return Err(CallFailure::Cancelled);
            }
            let (id, server, tool, arguments) = made;
            self.host.call_tool_as(origin, id, server, tool, arguments).await
        };
        tokio::pin!(call);
        let ended = tokio::select! {
            biased;
            ended = &mut call => ended,
            () = stop.cancelled() => {
                // It may have ended meanwhile.
                let _ = self.host.cancel_call(id).await;
                tokio::time::timeout(CANCELLING, call).await.unwrap_or(Err(CallFailure::Cancelled))
            }
        };
        let schema = async { self.host.catalog(server).await.ok()?.tool(&tool)?.output_schema };
        let (result, error) = match ended {
            Ok((result, edited)) => {
                let problem = match &result.structured_content {
                    Some(value) => match schema.await {
                        Some(schema) => output::check(schema, value.clone()).await,
                        None => None,
                    },
                    None => None,
                };
                (Some(ToolResult::new(result, problem, edited.unwrap_or(arguments))), None)
            }
            Err(failure) => (None, Some(failure.to_string())),
        };
        let limit = usize::try_from(self.bounds.result_bytes).unwrap_or(usize::MAX);
        let too_long = result.as_ref().map(|result| context::bounded(context::result_parts(result), "", limit).1);
        if let Body::ToolCall { arguments, result: own, error: why, took, left_out, .. } = &mut item.body {
            if let Some(result) = &result {
                arguments.clone_from(&result.arguments);
            }
            (*own, *why, *took) = (result, error, millis(began));
            *left_out = too_long.filter(|bytes| *bytes > 0);
        }
        item.state = State::Whole;
        item
    }
}

fn new_item(parent: Option<String>, state: State, body: Body) -> Item {
    Item { id: new_id(), parent, at: now(), state, body }
}

fn new_reply(model: &ModelRef, parent: Option<String>) -> Item {
    let body = Body::Reply {
        model: model.clone(),
        parts: Vec::new(),
        stop: None,
        usage: Usage::default(),
        cost: None,
        error: None,
        conversions: Vec::new(),
        first_after: None,
        took: 0,
    };
    new_item(parent, State::Streaming, body)
}

fn millis(began: Instant) -> u64 {
    u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX)
}
