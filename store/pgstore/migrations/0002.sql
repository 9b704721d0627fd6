-- The last change of each name (kind 1) and authority (kind 2): its present content.
create table nomen_present (
	time     bigint   not null, -- of the change, milliseconds since 1970
	revision bigint   not null,
	kind     smallint not null,
	key      text     {collate} not null,
	salt     bytea    not null, -- of the digest
	value    bytea    not null, -- encoded as docs/reference/files.md says
	primary key (kind, key)
);

-- The changes before the last one.
create table nomen_past (
	time     bigint   not null,
	revision bigint   not null,
	kind     smallint not null,
	key      text     {collate} not null,
	salt     bytea    not null,
	value    bytea    not null,
	primary key (kind, key, time, revision)
);

create table nomen_token (
	id    bytea not null primary key,
	value bytea not null
);

-- Which names have a location: the first 512 bytes of its URL, what remains, and
-- 16 bytes of the SHA-256 of what remains, if anything does.
create table nomen_place (
	head bytea not null,
	mark bytea not null,
	key  text  {collate} not null,
	rest bytea not null,
	primary key (head, mark, key)
);

-- Changes that are committed and have no place in the one order yet.
create table nomen_pending (
	stamp   timestamptz not null default clock_timestamp(),
	part    integer     not null,
	names   integer     not null, -- how many records it has made more
	id      bytea       not null, -- random, of the transaction
	entries bytea       not null,
	primary key (id, part)
);

-- The one order: 256 entries in a row, and the hashes of the tree that the last
-- of them completes. A row that is not full has the hashes of its leaves instead.
create table nomen_log (
	chunk   bigint not null primary key,
	entries bytea  not null,
	hashes  bytea  not null
);

-- The head of what is sealed, and who seals: one row.
create table nomen_head (
	id     integer     not null primary key,
	fence  bigint      not null, -- rises with every sealing
	size   bigint      not null, -- sealed entries
	names  bigint      not null, -- records after them
	until  timestamptz not null, -- when another node may seal
	holder bytea       not null, -- the node that seals until then
	hash   bytea       not null  -- of the tree
);

insert into nomen_head (id, fence, size, names, until, holder, hash) values (1, 0, 0, 0, clock_timestamp(), '', '');
