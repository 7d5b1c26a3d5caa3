CREATE TABLE conversation (
    number INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    title TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    head INTEGER,
    settings TEXT NOT NULL,
    items INTEGER NOT NULL
) STRICT;
CREATE TABLE gone (conversation INTEGER PRIMARY KEY, left INTEGER NOT NULL) STRICT;
CREATE TABLE source (
    conversation INTEGER NOT NULL,
    server TEXT NOT NULL,
    place INTEGER NOT NULL,
    PRIMARY KEY (conversation, server)
) STRICT, WITHOUT ROWID;
CREATE TABLE item (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    conversation INTEGER NOT NULL,
    id TEXT NOT NULL,
    parent INTEGER,
    at INTEGER NOT NULL,
    state INTEGER NOT NULL,
    writer TEXT,
    body TEXT NOT NULL
) STRICT;
CREATE UNIQUE INDEX item_of_id ON item (conversation, id);
CREATE INDEX item_after ON item (conversation, parent);
CREATE INDEX item_of_writer ON item (writer) WHERE writer IS NOT NULL;
CREATE TABLE blob (
    number INTEGER PRIMARY KEY,
    hash BLOB NOT NULL UNIQUE,
    size INTEGER NOT NULL,
    bytes BLOB NOT NULL
) STRICT;
CREATE TABLE large (
    item INTEGER NOT NULL,
    pointer TEXT NOT NULL,
    blob INTEGER NOT NULL,
    base64 INTEGER NOT NULL,
    PRIMARY KEY (item, pointer)
) STRICT, WITHOUT ROWID;
CREATE INDEX large_of_blob ON large (blob);
CREATE TABLE said (item INTEGER PRIMARY KEY, text TEXT NOT NULL) STRICT;
CREATE VIRTUAL TABLE word USING fts5 (text, content = '', tokenize = 'ascii', prefix = '1 2 3');
INSERT INTO word (word, rank) VALUES ('secure-delete', 1);
