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

// migrations contains one file of statements per version of the schema, which converts the
// previous version. A file must never change after it was released; the history is in
// docs/reference/files.md.
//
//go:embed migrations/*.sql
var migrations embed.FS

// The table of versions is created before the first migration. A migration locks its row,
// so that nodes that start at the same time do not interfere.
const (
	makeMeta = `create table if not exists nomen_meta (
	id     integer not null primary key,
	format bigint  not null, -- how many migrations were made
	rules  bigint  not null  -- name.RulesVersion when the store was made
)`
	fillMeta = "insert into nomen_meta (id, format, rules) values (1, 0, $1) on conflict (id) do nothing"
	lockMeta = "select format, rules from nomen_meta where id = 1 for update"
	readMeta = "select format, rules from nomen_meta where id = 1"
	setMeta  = "update nomen_meta set format = $1 where id = 1"
)

// A schema is the list of migrations that this program knows, oldest first.
type schema []string

// readSchema reads the files 0001.sql, 0002.sql ... of a directory.
func readSchema(dir fs.FS) (schema, error) {
	names, err := fs.Glob(dir, "*.sql")
	if err != nil {
		return nil, err
	}
	var s schema
	for i, name := range names {
		if want := fmt.Sprintf("%04d.sql", i+1); name != want {
			return nil, fmt.Errorf("pgstore: migration %s follows number %d", name, i)
		}
		text, err := fs.ReadFile(dir, name)
		if err != nil {
			return nil, err
		}
		s = append(s, string(text))
	}
	return s, nil
}

// migrate converts the schema of a database to the version of s, from nothing or from any
// earlier version. Each step is one transaction. It returns a [*store.VersionError] for a
// newer schema, and for other rules of names.
func (s schema) migrate(ctx context.Context, c *pgx.Conn) error {
	if err := s.check(ctx, c); err == nil || !older(err) && !missing(err) {
		return err
	}
	if _, err := c.Exec(ctx, makeMeta); err != nil && state(err) != uniqueViolation && state(err) != duplicateObject { // made by another node just now
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

// missing reports whether err means that a database has no schema, or that one is being
// created.
func missing(err error) bool {
	return state(err) == undefinedTable || errors.Is(err, pgx.ErrNoRows)
}

// older reports whether err means that a schema must be migrated, and can be.
func older(err error) bool {
	var version *store.VersionError
	return errors.As(err, &version) && version.What == formatName && version.Found < version.Known
}

// step runs the next migration; done reports that none is left.
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
		statements := strings.ReplaceAll(s[format], "{collate}", collate)
		if _, err := tx.Exec(ctx, statements, pgx.QueryExecModeSimpleProtocol); err != nil {
			return fmt.Errorf("migration %d: %w", format+1, err)
		}
		if strings.Contains(s[format], aliasMark) {
			if err := addAliases(ctx, tx); err != nil {
				return fmt.Errorf("migration %d: %w", format+1, err)
			}
		}
		_, err = tx.Exec(ctx, setMeta, format+1)
		return err
	})
	return done, err
}

// collation returns the clause that makes a column sort by bytes. CockroachDB always does,
// and does not support the clause.
func collation(ctx context.Context, tx pgx.Tx) (string, error) {
	var version string
	err := tx.QueryRow(ctx, "select version()").Scan(&version)
	if strings.HasPrefix(version, "CockroachDB") {
		return "", err
	}
	return `collate "C"`, err
}

// How to convert a database of an earlier version.
const (
	formatWay = "it is converted when it is opened for writing"
	rulesWay  = "copy it to a directory with the program that it was made by ('nomen migrate --from postgres://... --to pebble:DIR'), " +
		"then, with this one, convert that ('nomen rekey --store pebble:DIR') and copy it to an empty database ('nomen migrate --from pebble:DIR --to postgres://...')"
)

// check returns a [*store.VersionError] if the schema of a database has another version
// than s.
func (s schema) check(ctx context.Context, c *pgx.Conn) error {
	var format, rules uint64
	if err := c.QueryRow(ctx, readMeta).Scan(&format, &rules); err != nil {
		return err
	}
	return s.verdict(format, rules)
}

const formatName = "format of the store"

func (s schema) verdict(format, rules uint64) error {
	switch {
	case rules != name.RulesVersion:
		return &store.VersionError{What: "rules of names", Found: rules, Known: name.RulesVersion, Way: rulesWay}
	case format != uint64(len(s)):
		return &store.VersionError{What: formatName, Found: format, Known: uint64(len(s)), Way: formatWay}
	}
	return nil
}

// migrationFiles returns the directory of the migrations.
func migrationFiles() fs.FS {
	dir, err := fs.Sub(migrations, "migrations")
	if err != nil {
		panic("pgstore: " + err.Error()) // the path is a constant
	}
	return dir
}
