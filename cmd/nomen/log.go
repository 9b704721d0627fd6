package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/mod/sumdb/note"

	"github.com/nomen-project/nomen/adminapi"
	"github.com/nomen-project/nomen/internal/durable"
	"github.com/nomen-project/nomen/store"
	"github.com/nomen-project/nomen/tlog"
	"github.com/nomen-project/nomen/tlog/publish"
	"github.com/nomen-project/nomen/tlog/watch"
)

const logLong = `A server with log.key in its configuration publishes the log of all changes: checkpoints that
it signs, and the hashes with which anyone can verify that no change was altered, removed or
added later. docs/howto/publish-the-log.md says how.`

func (c *cli) logCommand() *cobra.Command {
	return groupOf("log", "publish the log of changes", logLong, c.logKeyCommand(), c.logExportCommand(), c.logResumeCommand(), c.logWatchCommand())
}

func (c *cli) logKeyCommand() *cobra.Command {
	return groupOf("key", "manage the keys of logs and witnesses", "These commands make the keys with which a log signs its checkpoints, and a witness cosigns\nthose of others.", c.logKeyNewCommand())
}

const logKeyNewLong = `New makes an Ed25519 key, writes the private key to FILE, and prints the public key. Only the
owner can read FILE. An existing file is never overwritten.

Keep FILE outside the data directory, so that copies of the data do not have the key. Keep a copy of FILE in a safe place: without the key, the log must begin a new origin.

The name of the key of a log is the origin of the log. It follows from the public URL of the
server: with --public-url https://names.example.org, it is names.example.org/-/log. A witness
can have any name, usually its host.`

func (c *cli) logKeyNewCommand() *cobra.Command {
	var url, name string
	var witness bool
	cmd := &cobra.Command{
		Use:   "new FILE",
		Short: "make the key of a log or a witness",
		Long:  logKeyNewLong,
		Example: `  nomen log key new --public-url https://names.example.org /etc/nomen/log.key
  nomen log key new --witness --name witness.example.org /etc/nomen/witness.key`,
		Args: arguments(1, 1),
	}
	f := cmd.Flags()
	f.StringVar(&url, "public-url", "", "public URL of the server, from which the name of the key follows")
	f.StringVar(&name, "name", "", "name of the key, instead of --public-url")
	f.BoolVar(&witness, "witness", false, "make the key of a witness")
	cmd.RunE = func(_ *cobra.Command, args []string) error {
		switch {
		case (url == "") == (name == ""):
			return usagef("log key new: pass either --public-url or --name")
		case url != "":
			if name = originOf(url); name == "" {
				return usagef("log key new: --public-url %q: must have the form https://HOST or https://HOST/PATH", url)
			}
			if witness {
				name = strings.TrimSuffix(name, "/-/log")
			}
		}
		return c.newLogKey(args[0], name, witness)
	}
	return cmd
}

// A keyLine is the JSON result of 'log key new'.
type keyLine struct {
	File string `json:"file"`
	Name string `json:"name"`
	Key  string `json:"key"`
}

func (c *cli) newLogKey(file, name string, witness bool) error {
	if isBelow(c.data, file) {
		return usagef("log key new: %s is in the data directory: keep the key elsewhere, so that copies of the data do not have it", file)
	}
	skey, vkey, err := tlog.GenerateKey(rand.Reader, name, witness)
	if err != nil {
		return usagef("log key new: %w", err)
	}
	if err := writeNew(file, skey+"\n"); err != nil {
		if errors.Is(err, fs.ErrExist) {
			return fmt.Errorf("%s: already exists and is not overwritten: without the old key, its log must begin a new origin", file)
		}
		return err
	}
	if c.json {
		return c.printJSON(keyLine{file, name, vkey})
	}
	fmt.Fprintf(c.out, "%s\n", vkey)
	next := `Next:
  1. Keep a copy of %[1]s in a safe place.
  2. Set log.key = %[2]q in the configuration, and restart the server.
  3. Publish the public key above, for example on your web site: with it, others verify the log.
`
	if witness {
		next = `Next:
  1. Keep a copy of %[1]s in a safe place.
  2. Start the witness: nomen witness serve --key %[1]s
  3. Give the public key above to those whose logs you witness.
`
	}
	fmt.Fprintf(c.err, next, printable(file), file)
	return nil
}

// isBelow reports whether the path of a file is below a directory. It does not resolve symbolic
// links.
func isBelow(dir, file string) bool {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return false
	}
	if file, err = filepath.Abs(file); err != nil {
		return false
	}
	rel, err := filepath.Rel(dir, file)
	return err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator))
}

// writeNew creates a file that only its owner can read. It returns an error if the file exists.
func writeNew(file, text string) error {
	f, err := os.OpenFile(file, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = f.WriteString(text)
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return errors.Join(err, os.Remove(file))
	}
	return durable.SyncDir(filepath.Dir(file))
}

// withSource calls f with the open store. It returns an error if a server has the store open,
// because then only the server can publish the log.
func (c *cli) withSource(ctx context.Context, how access, what string, f func(s store.Store) error) error {
	return c.withStore(ctx, how, func(b backend) error {
		l, ok := b.(*local)
		if !ok {
			return fmt.Errorf("%s: a server has the store of this data directory open; stop the server first", what)
		}
		return f(l.store)
	})
}

const logExportLong = `Export writes the published log to the directory DIR: the checkpoint, and the tiles of hashes
(c2sp.org/tlog-tiles). Any web server can serve DIR. With --entries, export also writes the
entries, unless some are about names that are reserved or not listed.

DIR may have an earlier export of the same log. Only files that are missing, or have another
content, are written; the checkpoint is written last.

The log is that of the store in the data directory, or of the server that has this store open.
With --via, it is the log at a URL, for example of another organisation. --key is then required:
export verifies the checkpoint with it, and all files against the checkpoint. In a log that is
read from a server, bundles of entries that the server does not show are left out.`

func (c *cli) logExportCommand() *cobra.Command {
	x := &exporting{cli: c}
	cmd := &cobra.Command{
		Use:   "export DIR",
		Short: "write the published log to a directory",
		Long:  logExportLong,
		Example: `  nomen log export /var/www/log
  nomen log export --via https://names.example.org/-/log --key names.example.org/-/log+1b2c3d4e+AZq... --entries mirror`,
		Args: arguments(1, 1),
	}
	f := cmd.Flags()
	f.BoolVar(&x.entries, "entries", false, "also write the entries")
	f.StringVar(&x.via, "via", "", "URL of the log to read, such as https://names.example.org/-/log")
	f.StringVar(&x.key, "key", "", "public key of the log at --via")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if (x.via == "") != (x.key == "") {
			return usagef("log export: pass --via and --key together")
		}
		return x.run(cmd.Context(), args[0])
	}
	return cmd
}

// An exporting holds the options of 'nomen log export'.
type exporting struct {
	*cli
	entries  bool
	via, key string
}

func (x *exporting) run(ctx context.Context, dir string) error {
	if x.via != "" {
		keys, err := verifiersOf("key", []string{x.key})
		if err != nil {
			return err
		}
		log, err := watch.NewRemote(x.via, nil, clock)
		if err != nil {
			return usageError{err}
		}
		return x.mirror(ctx, log, keys[0], dir)
	}
	return x.withStore(ctx, reads, func(b backend) error {
		if server, ok := b.(*adminapi.Client); ok {
			is, err := server.PublishedLog(ctx)
			if err != nil {
				return err
			}
			if is == nil {
				return publish.ErrNotPublished
			}
			keys, err := verifiersOf("key", []string{is.Key})
			if err != nil {
				return err
			}
			return x.mirror(ctx, server, keys[0], dir)
		}
		o, err := x.publishOptions(b.(*local).store, "")
		if err != nil {
			return err
		}
		progress, end := x.counting("log export: entries")
		sum, err := publish.Export(ctx, o, dir, x.entries, progress)
		end()
		return x.told(dir, sum, err)
	})
}

// mirror exports the log of a server at a URL.
func (x *exporting) mirror(ctx context.Context, log publish.Remote, key note.Verifier, dir string) error {
	progress, end := x.counting("log export: entries")
	sum, err := publish.Mirror(ctx, log, key, dir, x.entries, progress)
	end()
	return x.told(dir, sum, err)
}

// told prints the number of entries and files that were written.
func (x *exporting) told(dir string, sum publish.Exported, err error) error {
	if err != nil {
		return err
	}
	text := fmt.Sprintf("%s: %s of %s, %s written", printable(dir), count(int64(sum.Entries), "change"), sum.Origin, count(int64(sum.Files), "file"))
	if sum.Repaired > 0 {
		text += fmt.Sprintf("; %s had another content before", count(int64(sum.Repaired), "file"))
	}
	if sum.Hidden > 0 {
		text += fmt.Sprintf("; in %s, entries about names that are not public are left out", count(int64(sum.Hidden), "bundle"))
	}
	return x.say(sum, "%s", text)
}

const logResumeLong = `Resume makes a log publish again after the server has refused, because the store does not
continue the last published checkpoint.

If the store was restored from a backup, and it is not known which checkpoint was published
last, pass that checkpoint with --checkpoint: the file that GET /-/log/checkpoint gave, which a
witness or a mirror also has. Resume verifies that the log continues it.

If changes that were published are really lost, --accept-rollback begins a new origin, whose
name is the name of the old origin and a number. Everyone who follows the log sees that the
old origin ended. Tell them why. Resume prints the public key of the new origin.

The server must not be running.`

func (c *cli) logResumeCommand() *cobra.Command {
	var key, checkpoint string
	var accept bool
	cmd := &cobra.Command{
		Use:   "resume",
		Short: "publish again after a rollback",
		Long:  logResumeLong,
		Example: `  nomen log resume --key /etc/nomen/log.key --checkpoint checkpoint
  nomen log resume --key /etc/nomen/log.key --accept-rollback`,
		Args: noArguments,
	}
	f := cmd.Flags()
	f.StringVar(&key, "key", "", "file with the key of the log, or credential:NAME (required)")
	f.StringVar(&checkpoint, "checkpoint", "", "file with the last published checkpoint")
	f.BoolVar(&accept, "accept-rollback", false, "begin a new origin, because published changes are lost")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		if key == "" || accept == (checkpoint != "") {
			return usagef("log resume: pass --key, and either --checkpoint or --accept-rollback")
		}
		return c.withSource(cmd.Context(), changes, "log resume", func(s store.Store) error {
			return c.resumeLog(cmd.Context(), s, key, checkpoint)
		})
	}
	return cmd
}

// publishedLogID is the subject of log entries that record a new origin of the published log. These
// entries are changes of the rights of a token with this ID. There is no such token, and the
// entries grant no rights.
const publishedLogID = "published-log"

func noteOrigin(ctx context.Context, s store.Store, file, origin string) error {
	why := "the published log begins the origin " + origin
	if h, ok := publish.LastHead(file); ok {
		why += fmt.Sprintf("; the last checkpoint before had %s", count(int64(h.Size), "change"))
	}
	rights := &store.TokenRights{ID: publishedLogID, Who: origin, Revoked: true}
	_, err := s.Apply(ctx, []store.Change{{Rights: rights, Expected: store.AnyRevision, Time: clock(), Why: why}})
	return err
}

// resumeLog permits the server to publish the log of a store again.
func (c *cli) resumeLog(ctx context.Context, s store.Store, key, checkpoint string) error {
	o, err := c.publishOptions(s, key)
	if err != nil {
		return usagef("log resume: --key: %w", err)
	}
	var text []byte
	origin := ""
	if checkpoint != "" {
		text, err = readLimited(checkpoint, tlog.MaxCheckpoint)
	} else {
		origin, err = publish.NextOrigin(ctx, o)
	}
	if err != nil {
		return err
	}
	if checkpoint == "" {
		if err := noteOrigin(ctx, s, o.File, origin); err != nil {
			return err
		}
	}
	vkey, err := publish.Resume(ctx, o, text, origin)
	if err != nil {
		return err
	}
	name, _, _ := strings.Cut(vkey, "+")
	if c.json {
		return c.printJSON(keyLine{Name: name, Key: vkey})
	}
	fmt.Fprintln(c.out, vkey)
	if checkpoint == "" {
		fmt.Fprintf(c.err, "nomen: the log has the new origin %s; start the server, publish the public key above, and tell those who follow the log why the old origin ended\n", name)
	}
	return nil
}
