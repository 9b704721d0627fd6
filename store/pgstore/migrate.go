package pgstore

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/store"
)

// migrations contains a file of SQL statements for each version of the schema. The first file
// creates the schema. Every other file converts the previous version. A released file must never
// change. docs/reference/files.md has the history.
//
//go:embed migrations/*.sql
var migrations embed.FS

// The table of versions is created before the first migration. A migration locks the only row of
// this table, so that nodes that start at the same time do not run the same migration twice.
const (
	makeMeta = `create table if not exists nomen_meta (
	id     integer not null primary key,
	format bigint  not null, -- version of the schema, 0 before the first migration
	rules  bigint  not null  -- name.RulesVersion when the store was made
)`
	fillMeta = "insert into nomen_meta (id, format, rules) values (1, 0, $1) on conflict (id) do nothing"
	lockMeta = "select format, rules from nomen_meta where id = 1 for update"
	readMeta = "select format, rules from nomen_meta where id = 1"
	setMeta  = "update nomen_meta set format = $1 where id = 1"
)

// firstVersion is the version that the first migration creates. Version 1 was never released.
const firstVersion = 2

// usersVersion is the version of a store with users. The tables are those of version 2. The change
// that adds the first user sets this version. Programs of earlier versions can therefore still open
// a store without users.
const usersVersion = 3

// valuesVersion is the version of a store with typed values. The tables are those of version 2. The
// change that adds the first typed value sets this version.
const valuesVersion = 4

// rightsVersion is the version of a store with the rights of tokens. The tables are those of
// version 2. The change that adds the first rights sets this version.
const rightsVersion = 5

// splitVersion is the version of a store with split digests. The tables are those of version 2.
// [Store.SplitDigests] sets this version, or the first loaded change whose digest is split.
const splitVersion = 6

// A schema is the list of migrations in this program, oldest first. Element i leads to version
// firstVersion+i.
type schema []string

func (s schema) version() uint64 { return firstVersion + uint64(len(s)) - 1 }

func next(format uint64) uint64 { return max(format+1, firstVersion) }

// readSchema reads the files 0002.sql, 0003.sql and so on from a directory.
func readSchema(dir fs.FS) (schema, error) {
	names, err := fs.Glob(dir, "*.sql")
	if err != nil {
		return nil, err
	}
	var s schema
	for i, name := range names {
		if want := fmt.Sprintf("%04d.sql", firstVersion+i); name != want {
			return nil, fmt.Errorf("pgstore: migration %s, expected %s", name, want)
		}
		text, err := fs.ReadFile(dir, name)
		if err != nil {
			return nil, err
		}
		s = append(s, string(text))
	}
	return s, nil
}

// migrate creates the schema of a database, or converts it to the version of s. Each migration is
// one transaction. If the schema is newer, or if the store was made with other rules of names, the
// error is a [*store.VersionError].
func (s schema) migrate(ctx context.Context, c *pgx.Conn) error {
	if err := s.check(ctx, c); err == nil || !older(err) && !missing(err) {
		return err
	}
	if _, err := c.Exec(ctx, makeMeta); err != nil && state(err) != uniqueViolation && state(err) != duplicateObject { // another node may have just created it
		return err
	}
	if _, err := c.Exec(ctx, fillMeta, name.RulesVersion); err != nil {
		return err
	}
	for {
		done, err := s.step(ctx, c)
		if done || err != nil {
			return err
		}
	}
}

func missing(err error) bool {
	return state(err) == undefinedTable || errors.Is(err, pgx.ErrNoRows)
}

// older reports whether err means that the schema can be migrated.
func older(err error) bool {
	var version *store.VersionError
	return errors.As(err, &version) && version.What == formatName && version.Found < version.Known &&
		(version.Found == 0 || version.Found >= firstVersion)
}

// step runs the next migration. The result done is true if there was no migration to run.
func (s schema) step(ctx context.Context, c *pgx.Conn) (done bool, err error) {
	err = pgx.BeginFunc(ctx, c, func(tx pgx.Tx) error {
		var format, rules uint64
		if err := tx.QueryRow(ctx, lockMeta).Scan(&format, &rules); err != nil {
			return err
		}
		if err := s.verdict(format, rules); !older(err) {
			done = err == nil
			return err
		}
		collate, err := collation(ctx, tx)
		if err != nil {
			return err
		}
		to := next(format)
		statements := strings.ReplaceAll(s[to-firstVersion], "{collate}", collate)
		if _, err := tx.Exec(ctx, statements, pgx.QueryExecModeSimpleProtocol); err != nil {
			return fmt.Errorf("migration %d: %w", to, err)
		}
		_, err = tx.Exec(ctx, setMeta, to)
		return err
	})
	return done, err
}

// collation returns the SQL clause that makes a column sort by bytes. It returns "" for
// CockroachDB, which always sorts by bytes and does not support the clause.
func collation(ctx context.Context, tx pgx.Tx) (string, error) {
	var version string
	err := tx.QueryRow(ctx, "select version()").Scan(&version)
	if strings.HasPrefix(version, "CockroachDB") {
		return "", err
	}
	return `collate "C"`, err
}

// check returns a [*store.VersionError] unless this program supports the version of the database.
func (s schema) check(ctx context.Context, c *pgx.Conn) error {
	var format, rules uint64
	if err := c.QueryRow(ctx, readMeta).Scan(&format, &rules); err != nil {
		return err
	}
	return s.verdict(format, rules)
}

const formatName = "format of the store"

func (s schema) verdict(format, rules uint64) error {
	known := max(s.version(), splitVersion)
	switch {
	case rules != name.RulesVersion:
		return &store.VersionError{What: "rules of names", Found: rules, Known: name.RulesVersion, How: store.ConvertByCopy}
	case 0 < format && format < firstVersion:
		return &store.VersionError{What: formatName, Found: format, Known: known, How: store.ConvertNever}
	case format < s.version() || format > known:
		return &store.VersionError{What: formatName, Found: format, Known: known, How: store.ConvertOnWrite}
	}
	return nil
}

func migrationFiles() fs.FS {
	dir, err := fs.Sub(migrations, "migrations")
	if err != nil {
		panic("pgstore: " + err.Error()) // cannot happen: the path is a constant
	}
	return dir
}
