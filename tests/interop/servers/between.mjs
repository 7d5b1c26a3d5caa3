// Starts a server and corrupts its output: `between.mjs FOLDER PROGRAM ARGUMENT...`. The fault is in FOLDER/fault:
// bytewise, late, twice, never, cut or none. Input of the server is recorded in FOLDER/seen, duplicated responses in
// FOLDER/twice.

import { spawn } from 'node:child_process';
import { appendFileSync, readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';

const [folder, program, ...args] = process.argv.slice(2);
const server = spawn(program, args, { stdio: ['pipe', 'pipe', 'inherit'] });
server.on('exit', code => process.exit(code ?? 1));
process.stdin.on('data', data => {
    appendFileSync(`${folder}/seen`, data);
    server.stdin.write(data);
});
process.stdin.on('end', () => server.stdin.end());

let queue = Promise.resolve();
createInterface({ input: server.stdout }).on('line', line => {
    queue = queue.then(() => forward(`${line}\n`, readFileSync(`${folder}/fault`, 'utf8')));
});

async function forward(line, fault) {
    const isAnswer = 'result' in JSON.parse(line);
    switch (fault) {
        case 'bytewise':
            for (const byte of Buffer.from(line)) await new Promise(done => process.stdout.write(Buffer.of(byte), done));
            return;
        case 'late':
            await new Promise(done => setTimeout(done, 500));
            break;
        case 'twice':
            // Only responses: a duplicated request would be another request.
            if (!isAnswer) break;
            appendFileSync(`${folder}/twice`, line);
            process.stdout.write(line);
            break;
        case 'never':
            if (isAnswer) return;
            break;
        case 'cut':
            return process.stdout.write(line.slice(0, line.length / 2), () => server.kill('SIGKILL'));
    }
    process.stdout.write(line);
}
