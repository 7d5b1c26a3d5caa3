// Server on version 2 of the TypeScript SDK, for stateful and stateless revisions: `typescript-v2.mjs stdio` or
// `typescript-v2.mjs http PORT`. Requests to the user are declared once, as input that a call requires. In sessions of
// older revisions, the SDK sends them as requests.

import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';

import { NodeStreamableHTTPServerTransport, toNodeHandler, toWebRequest } from '@modelcontextprotocol/node';
import {
    ProtocolError,
    ProtocolErrorCode,
    Server,
    createMcpHandler,
    inputRequired,
    inputResponse,
    isLegacyRequest
} from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';

import * as harbour from './harbour.mjs';

const { data, textResult } = harbour;

const capabilities = {
    tools: { listChanged: true },
    prompts: {},
    resources: { subscribe: true },
    completions: {},
    logging: {}
};

function harbourServer() {
    const cacheHint = { ttlMs: 60_000, cacheScope: 'private' };
    const options = { capabilities, cacheHints: { 'resources/templates/list': cacheHint, 'resources/read': cacheHint } };
    const server = new Server({ name: 'typescript-v2', version: '1.0.0', icons: harbour.icons }, options);
    const subscribed = new Set();
    for (const [method, list] of [
        ['tools/list', 'tools'],
        ['prompts/list', 'prompts'],
        ['resources/list', 'resources'],
        ['resources/templates/list', 'resourceTemplates']
    ]) {
        server.setRequestHandler(method, request => harbour.page(list, request));
    }
    server.setRequestHandler('prompts/get', ({ params }) => found(harbour.prompt(params.name, params.arguments), params.name));
    server.setRequestHandler('resources/read', ({ params }) => ({ contents: [found(harbour.contents(params.uri), params.uri)] }));
    server.setRequestHandler('resources/subscribe', ({ params }) => (subscribed.add(params.uri), {}));
    server.setRequestHandler('resources/unsubscribe', ({ params }) => (subscribed.delete(params.uri), {}));
    server.setRequestHandler('completion/complete', ({ params }) => harbour.complete(params));
    server.setRequestHandler('tools/call', ({ params }, context) => call(params.name, params.arguments ?? {}, context));
    return { server, subscribed };
}

/** Notifies a stateful session of changes. The SDK itself notifies the subscriptions of stateless clients. */
function watched({ server, subscribed }, era) {
    const notifyChange = (change, uri) => {
        const notifications =
            change === 'tools'
                ? server.sendToolListChanged()
                : (era === 'modern' || subscribed.has(uri)) && server.sendResourceUpdated({ uri });
        Promise.resolve(notifications).catch(error => console.error(`not told of a change: ${error.message}`));
    };
    harbour.watchers.add(notifyChange);
    server.onclose = () => harbour.watchers.delete(notifyChange);
    return server;
}

function found(what, name) {
    if (what === undefined) throw new ProtocolError(ProtocolErrorCode.InvalidParams, `there is no ${name}`);
    return what;
}

async function call(name, args, { mcpReq, http }) {
    const answer = inputResponse(mcpReq.inputResponses, 'answer');
    const requestInput = request => inputRequired({ inputRequests: { answer: request }, requestState: 'asked' });
    switch (name) {
        case 'slow_report':
            return harbour.slowReport(args, mcpReq.signal, async step => {
                const progressToken = mcpReq._meta?.progressToken;
                if (progressToken === undefined) return;
                await mcpReq.notify({ method: 'notifications/progress', params: { progressToken, ...step } });
            });
        case 'log_something':
            await mcpReq.log('warning', args.text, 'harbour');
            return textResult('Logged.');
        case 'ask_user':
            if (answer.kind !== 'elicit') {
                return requestInput(inputRequired.elicit({ message: data.formMessage, requestedSchema: data.form }));
            }
            return textResult(`form: ${answer.action} ${answer.content?.captain ?? ''}`);
        case 'ask_url':
            if (answer.kind !== 'elicit') return requestInput(inputRequired.elicitUrl({ message: data.urlMessage, url: data.url }));
            return textResult(`url: ${answer.action}`);
        case 'ask_model': {
            if (answer.kind === 'sampling') return textResult(`model: ${[answer.result.content].flat()[0].text}`);
            const messages = [{ role: 'user', content: harbour.text(data.question) }];
            return requestInput(inputRequired.createMessage({ messages, maxTokens: 100 }));
        }
        case 'list_folders':
            if (answer.kind !== 'roots') return requestInput(inputRequired.listRoots());
            return textResult(`folders: ${answer.roots.map(root => root.uri).join(' ')}`);
        case 'nap':
            http?.closeSSE?.();
            await new Promise(done => setTimeout(done, 300));
            return textResult('Awake again.');
        default:
            return harbour.simple(name, args) ?? textResult(`${name} does nothing.`);
    }
}

if (process.argv[2] === 'stdio') {
    serveStdio(({ era }) => watched(harbourServer(), era));
} else {
    const modern = createMcpHandler(() => harbourServer().server, { legacy: 'reject' });
    harbour.watchers.add((change, uri) =>
        change === 'tools' ? modern.notify.toolsChanged() : modern.notify.resourceUpdated(uri)
    );
    const modernHandler = toNodeHandler(modern);
    const sessions = new Map();
    harbour.listen(
        createServer(async (request, response) => {
            if (new URL(request.url, 'http://harbour').pathname !== '/mcp') return response.writeHead(404).end();
            const body = request.method === 'POST' ? await parsed(request) : undefined;
            if (!(await isLegacyRequest(await toWebRequest(request, body), body))) {
                return modernHandler(request, response, body);
            }
            const id = request.headers['mcp-session-id'];
            if (id !== undefined && !sessions.has(id)) return response.writeHead(404).end();
            const transport = sessions.get(id) ?? (await session(sessions));
            await transport.handleRequest(request, response, body);
        })
    );
}

async function session(sessions) {
    const transport = new NodeStreamableHTTPServerTransport({
        sessionIdGenerator: randomUUID,
        eventStore: new harbour.EventStore(),
        retryInterval: 100,
        onsessioninitialized: id => void sessions.set(id, transport),
        onsessionclosed: id => void sessions.delete(id)
    });
    await watched(harbourServer(), 'legacy').connect(transport);
    return transport;
}

async function parsed(request) {
    const chunks = [];
    for await (const chunk of request) chunks.push(chunk);
    return JSON.parse(Buffer.concat(chunks).toString('utf8'));
}
