package main

import (
	"bufio"
	"context"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/nomen-project/nomen/internal/durable"
	"github.com/nomen-project/nomen/internal/openfiles"
	"github.com/nomen-project/nomen/store/pgstore"
)

// doctor reports a warning or a problem if a value is beyond one of these limits.
const (
	clockDoubt    = 5 * time.Second
	clockWrong    = time.Minute
	fewFiles      = 4096
	littleSpace   = 2 << 30 // bytes
	noSpaceLeft   = 200 << 20
	fewMemory     = 512 << 20
	maxMetricSize = 4 << 20
)

// checkClock compares the clock of this machine with the clock of the database. Without a database,
// it checks whether the clock is synchronised with a time server.
func (d *doctor) checkClock(ctx context.Context) {
	const check = "clock"
	if d.inDatabase() {
		s, err := d.openDatabase(ctx, pgstore.Options{URL: d.store, Now: clock, Log: d.logger(), ReadOnly: true}, reads)
		if err == nil {
			defer s.Close()
			var theirs time.Time
			if theirs, err = s.Clock(ctx); err == nil {
				d.compareClock(check, "the database", theirs, clock())
				return
			}
		}
		d.warning(check, "see the check of the store", "cannot read the clock of the database: %s", err)
		return
	}
	if synchronised, known := clockSynchronised(); known && !synchronised {
		d.warning(check, "run a time service, such as systemd-timesyncd or chrony", "no time server sets the clock of this machine")
		return
	}
	d.ok(check, "%s", clock().UTC().Format(time.RFC3339))
}

func (d *doctor) compareClock(check, whose string, theirs, ours time.Time) {
	const next = "set the clocks by a time service"
	switch off := theirs.Sub(ours).Abs().Round(time.Second); {
	case off > clockWrong:
		d.problem(check, next, "the clock of %s differs by %v", whose, off)
	case off > clockDoubt:
		d.warning(check, next, "the clock of %s differs by %v", whose, off)
	default:
		d.ok(check, "agrees with that of %s", whose)
	}
}

// checkDescriptors checks the number of files that the server may open. If the server is not
// running, checkDescriptors uses the limit of this process.
func (d *doctor) checkDescriptors(context.Context) {
	const check, next = "open files", "raise the limit, such as LimitNOFILE=65536 in the unit"
	limit, known := d.metrics["process_max_fds"]
	open, whose := d.metrics["process_open_fds"], "of the server"
	if !known {
		limit, open, whose = float64(openfiles.Limit()), 0, "of this shell"
	}
	switch {
	case limit >= openfiles.Unlimited:
		d.ok(check, "no limit %s is known", whose)
	case open > 0.9*limit:
		d.problem(check, next, "%.0f of %.0f are in use", open, limit)
	case limit < fewFiles:
		d.warning(check, next, "the limit %s is %.0f", whose, limit)
	default:
		d.ok(check, "the limit %s is %.0f", whose, limit)
	}
}

func (d *doctor) checkMemory(context.Context) {
	const check = "memory"
	limit := containerMemory()
	switch asked := int64(d.memory) << 20; {
	case limit == 0:
		d.ok(check, "no container limits the memory of this process")
	case asked > limit-limit/10:
		d.problem(check, "lower --memory, or give the container more", "--memory is %d MiB, and the container may use %d MiB", d.memory, limit>>20)
	case limit < fewMemory:
		d.warning(check, "give the container at least 512 MiB, or set --memory", "the container may use %d MiB", limit>>20)
	default:
		d.ok(check, "the container may use %d MiB", limit>>20)
	}
}

func containerMemory() int64 {
	for _, file := range []string{"/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"} {
		text, err := os.ReadFile(file)
		if err != nil {
			continue
		}
		if n, err := strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64); err == nil && n < 1<<50 {
			return n
		}
	}
	return 0
}

func (d *doctor) checkSpace(context.Context) {
	dirs := [][2]string{{"data directory", d.data}}
	if dir, err := d.storePath(); err == nil && !d.inDatabase() && filepath.Dir(dir) != filepath.Clean(d.data) {
		dirs = append(dirs, [2]string{"store", dir})
	}
	needed := int64(noSpaceLeft)
	if d.text("backup.to") != "" {
		dirs = append(dirs, [2]string{"backups", d.text("backup.to")})
	}
	for _, of := range dirs {
		usage, err := vfs.Default.GetDiskUsage(existing(of[1]))
		next := "free some space, or use a larger disk"
		free := int64(usage.AvailBytes)
		switch {
		case err != nil:
			d.warning("space", "", "%s: cannot be determined: %s", of[1], err)
		case free < needed:
			d.problem("space", next, "%s %s has only %s left", of[0], of[1], safe(sizeText(free)))
		case free < littleSpace || free < int64(usage.TotalBytes)/20:
			d.warning("space", next, "%s %s has only %s of %s left", of[0], of[1], safe(sizeText(free)), safe(sizeText(int64(usage.TotalBytes))))
		default:
			d.ok("space", "%s %s has %s left", of[0], of[1], safe(sizeText(free)))
		}
	}
}

func existing(dir string) string {
	for {
		if _, err := os.Stat(dir); err == nil || filepath.Dir(dir) == dir {
			return dir
		}
		dir = filepath.Dir(dir)
	}
}

// checkAccess reports private files that other users can read, and files that the server cannot
// read.
func (d *doctor) checkAccess(context.Context) {
	const check = "permissions"
	before := len(d.all)
	info, err := os.Stat(d.data)
	if err != nil {
		d.warning(check, "", "%s", err)
		return
	}
	owner := durable.OwnerOf(info)
	private := map[string]string{filepath.Join(d.data, tokenFile): "the administrator's token"}
	if dir, err := d.storePath(); err == nil && !d.inDatabase() {
		private[dir] = "the store"
	}
	for _, f := range d.namedFiles() {
		if f.private {
			private[f.path] = f.what
		}
	}
	for path, what := range private {
		switch info, err := os.Stat(path); {
		case err == nil && info.Mode().Perm()&0o007 != 0:
			d.problem(check, "run 'chmod o= "+path+"'", "other users can read %s, %s (mode %04o)", what, path, info.Mode().Perm())
		case err != nil && !os.IsNotExist(err):
			d.warning(check, "run doctor as user "+owner+" or as root", "%s", err)
		}
	}
	d.checkNamedFiles(check, info)
	if strange, whose := d.strangeOwner(owner); strange != "" {
		d.problem(check, "run 'chown -R "+owner+" "+d.data+"' while the server is stopped", "%s belongs to user %s, and %s to user %s", strange, whose, d.data, owner)
	}
	if len(d.all) == before {
		d.ok(check, "%s belongs to user %s and is private", d.data, owner)
	}
}

// strangeOwner returns a file in the data directory that belongs to a user other than owner, and
// this user.
func (d *doctor) strangeOwner(owner string) (file, whose string) {
	_ = filepath.WalkDir(d.data, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return nil // doctor must not read this directory; another check reports that
		}
		if info, err := e.Info(); err == nil {
			if whose = durable.OwnerOf(info); whose != owner {
				file = path
				return filepath.SkipAll
			}
		}
		return nil
	})
	return file, whose
}

// readMetrics returns the metrics of a server, except metrics with labels. The result is empty if
// the server does not publish metrics.
func readMetrics(ctx context.Context, client *http.Client, base string) map[string]float64 {
	all := map[string]float64{}
	text, err := fetchText(ctx, client, base+"/-/metrics", maxMetricSize)
	if err != nil {
		return all
	}
	lines := bufio.NewScanner(strings.NewReader(text))
	for lines.Scan() {
		name, value, ok := strings.Cut(lines.Text(), " ")
		if n, err := strconv.ParseFloat(value, 64); ok && err == nil && !strings.HasPrefix(name, "#") {
			all[name] = n
		}
	}
	return all
}

func fetchText(ctx context.Context, client *http.Client, url string, limit int64) (string, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return "", err
	}
	resp, err := client.Do(req)
	if err != nil {
		return "", err
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(io.LimitReader(resp.Body, limit))
	if err == nil && resp.StatusCode != http.StatusOK {
		err = fs.ErrNotExist
	}
	return string(text), err
}
