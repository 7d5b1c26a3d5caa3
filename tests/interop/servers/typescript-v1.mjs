// Server on version 1 of the TypeScript SDK, for revisions with sessions: `typescript-v1.mjs stdio`, or
// `typescript-v1.mjs http PORT` with Streamable HTTP at /mcp and HTTP+SSE at /sse.

import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';

import { InMemoryTaskMessageQueue, InMemoryTaskStore } from '@modelcontextprotocol/sdk/experimental/tasks/stores/in-memory.js';
import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import { SSEServerTransport } from '@modelcontextprotocol/sdk/server/sse.js';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import * as types from '@modelcontextprotocol/sdk/types.js';

import * as harbour from './harbour.mjs';

const { data, textResult } = harbour;

const task = {
    name: 'do_later',
    description: 'Is done as a task.',
    inputSchema: { type: 'object', properties: {} },
    execution: { taskSupport: 'required' }
};
data.tools.push(task);

const capabilities = {
    tools: { listChanged: true },
    prompts: {},
    resources: { subscribe: true },
    completions: {},
    logging: {},
    tasks: { list: {}, cancel: {}, requests: { tools: { call: {} } } }
};

function harbourServer() {
    const taskStore = new InMemoryTaskStore();
    const server = new Server(
        { name: 'typescript-v1', version: '1.0.0', icons: harbour.icons },
        { capabilities, taskStore, taskMessageQueue: new InMemoryTaskMessageQueue() }
    );
    const subscribed = new Set();
    for (const [schema, list] of [
        [types.ListToolsRequestSchema, 'tools'],
        [types.ListPromptsRequestSchema, 'prompts'],
        [types.ListResourcesRequestSchema, 'resources'],
        [types.ListResourceTemplatesRequestSchema, 'resourceTemplates']
    ]) {
        server.setRequestHandler(schema, request => harbour.page(list, request));
    }
    server.setRequestHandler(types.GetPromptRequestSchema, ({ params }) =>
        found(harbour.prompt(params.name, params.arguments), params.name)
    );
    server.setRequestHandler(types.ReadResourceRequestSchema, ({ params }) => ({
        contents: [found(harbour.contents(params.uri), params.uri)]
    }));
    server.setRequestHandler(types.SubscribeRequestSchema, ({ params }) => (subscribed.add(params.uri), {}));
    server.setRequestHandler(types.UnsubscribeRequestSchema, ({ params }) => (subscribed.delete(params.uri), {}));
    server.setRequestHandler(types.CompleteRequestSchema, ({ params }) => harbour.complete(params));
    server.setRequestHandler(types.CallToolRequestSchema, ({ params }, extra) =>
        call(server, params.name, params.arguments ?? {}, extra)
    );
    const notifyChange = (change, uri) => {
        const notifications =
            change === 'tools' ? server.sendToolListChanged() : subscribed.has(uri) && server.sendResourceUpdated({ uri });
        Promise.resolve(notifications).catch(error => console.error(`not told of a change: ${error.message}`));
    };
    harbour.watchers.add(notifyChange);
    server.onclose = () => {
        harbour.watchers.delete(notifyChange);
        taskStore.cleanup();
    };
    return server;
}

function found(what, name) {
    if (what === undefined) throw new types.McpError(types.ErrorCode.InvalidParams, `there is no ${name}`);
    return what;
}

async function call(server, name, args, extra) {
    const elicit = params =>
        extra.sendRequest({ method: 'elicitation/create', params }, types.ElicitResultSchema);
    switch (name) {
        case 'slow_report':
            return harbour.slowReport(args, extra.signal, async step => {
                const progressToken = extra._meta?.progressToken;
                if (progressToken === undefined) return;
                await extra.sendNotification({ method: 'notifications/progress', params: { progressToken, ...step } });
            });
        case 'log_something':
            await server.sendLoggingMessage({ level: 'warning', logger: 'harbour', data: args.text }, extra.sessionId);
            return textResult('Logged.');
        case 'ask_user': {
            const form = await elicit({ mode: 'form', message: data.formMessage, requestedSchema: data.form });
            return textResult(`form: ${form.action} ${form.content?.captain ?? ''}`);
        }
        case 'ask_url': {
            const elicitationId = randomUUID();
            const answer = await elicit({ mode: 'url', message: data.urlMessage, url: data.url, elicitationId });
            return textResult(`url: ${answer.action}`);
        }
        case 'ask_model': {
            const messages = [{ role: 'user', content: harbour.text(data.question) }];
            const samplingRequest = { method: 'sampling/createMessage', params: { messages, maxTokens: 100 } };
            const answer = await extra.sendRequest(samplingRequest, types.CreateMessageResultWithToolsSchema);
            return textResult(`model: ${[answer.content].flat()[0].text}`);
        }
        case 'list_folders': {
            const { roots } = await extra.sendRequest({ method: 'roots/list' }, types.ListRootsResultSchema);
            return textResult(`folders: ${roots.map(root => root.uri).join(' ')}`);
        }
        case 'nap':
            extra.closeSSEStream?.();
            await new Promise(done => setTimeout(done, 300));
            return textResult('Awake again.');
        case 'do_later':
            return createTask(extra);
        default:
            return harbour.simple(name, args) ?? textResult(`${name} does nothing.`);
    }
}

async function createTask({ taskStore, taskRequestedTtl }) {
    const created = await taskStore.createTask({ ttl: taskRequestedTtl ?? 60_000, pollInterval: 100 });
    setTimeout(async () => {
        await taskStore.updateTaskStatus(created.taskId, 'working', 'half way');
        await new Promise(done => setTimeout(done, 200));
        await taskStore.storeTaskResult(created.taskId, 'completed', textResult('Done later.'));
    }, 100);
    return { task: created };
}

if (process.argv[2] === 'stdio') {
    await harbourServer().connect(new StdioServerTransport());
} else {
    const sessions = new Map();
    harbour.listen(
        createServer(async (request, response) => {
            const { pathname, searchParams } = new URL(request.url, 'http://harbour');
            if (pathname === '/mcp') {
                const id = request.headers['mcp-session-id'];
                if (id !== undefined && !sessions.has(id)) return response.writeHead(404).end();
                const transport = sessions.get(id) ?? (await session(sessions));
                await transport.handleRequest(request, response);
            } else if (pathname === '/sse' && request.method === 'GET') {
                const transport = new SSEServerTransport('/messages', response);
                sessions.set(transport.sessionId, transport);
                response.on('close', () => sessions.delete(transport.sessionId));
                await harbourServer().connect(transport);
            } else if (pathname === '/messages' && sessions.has(searchParams.get('sessionId'))) {
                await sessions.get(searchParams.get('sessionId')).handlePostMessage(request, response);
            } else {
                // A server older than Streamable HTTP rejects POST here.
                response.writeHead(pathname === '/sse' ? 405 : 404).end();
            }
        })
    );
}

async function session(sessions) {
    const transport = new StreamableHTTPServerTransport({
        sessionIdGenerator: randomUUID,
        eventStore: new harbour.EventStore(),
        retryInterval: 100,
        onsessioninitialized: id => void sessions.set(id, transport),
        onsessionclosed: id => void sessions.delete(id)
    });
    await harbourServer().connect(transport);
    return transport;
}
