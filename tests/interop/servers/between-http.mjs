// Proxy between a host and an HTTP server: `between-http.mjs ORIGIN FOLDER PORT`. While FOLDER/fault contains
// `twice`, each response on a stream is duplicated. Requests are recorded in FOLDER/seen, duplicated responses in
// FOLDER/twice.

import { appendFileSync, readFileSync } from 'node:fs';
import { createServer, request } from 'node:http';

import { listen } from './harbour.mjs';

const [origin, folder] = process.argv.slice(2);

listen(
    createServer((from, to) => {
        const { method, headers } = from;
        const onward = request(new URL(from.url, origin), { method, headers }, answer => {
            to.writeHead(answer.statusCode, answer.headers);
            to.flushHeaders();
            const isStream = (answer.headers['content-type'] ?? '').startsWith('text/event-stream');
            if (!isStream) return answer.pipe(to);
            let partialEvent = '';
            answer.setEncoding('utf8');
            answer.on('data', text => {
                const events = (partialEvent + text).split(/(?<=\r?\n\r?\n)/);
                partialEvent = /\r?\n\r?\n$/.test(events.at(-1)) ? '' : events.pop();
                for (const event of events) forward(event, to);
            });
            answer.on('end', () => to.end(partialEvent));
            answer.on('error', () => to.destroy());
        });
        onward.on('error', () => to.destroy());
        to.on('close', () => onward.destroy());
        from.on('data', data => {
            appendFileSync(`${folder}/seen`, data);
            onward.write(data);
        });
        from.on('end', () => onward.end());
    })
);

function forward(event, to) {
    if (readFileSync(`${folder}/fault`, 'utf8') === 'twice' && event.includes('"result"')) {
        appendFileSync(`${folder}/twice`, event);
        to.write(event);
    }
    to.write(event);
}
