package main

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"net"
	"net/netip"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/nomen-project/nomen/adminapi"
	"github.com/nomen-project/nomen/internal/backups"
	"github.com/nomen-project/nomen/store"
	"github.com/nomen-project/nomen/tlog/publish"
)

func (d *doctor) checkAdmin(context.Context) {
	const check = "admin listener"
	for _, address := range d.adminAddresses() {
		host, _, err := net.SplitHostPort(address)
		if err != nil || isLocal(host) || strings.HasPrefix(address, socketScheme) || strings.HasPrefix(address, inheritedScheme) {
			continue
		}
		d.problem(check, "use 127.0.0.1 or a Unix socket, or a proxy with TLS", "other machines can reach %s without TLS, so that tokens can be read on the way", address)
		return
	}
	d.ok(check, "only this machine can reach it")
}

func (d *doctor) checkSecondPerson(context.Context) {
	for _, rule := range []adminapi.SecondPerson{d.version.SecondPerson, d.flags.limits.second} {
		if text := secondPersonText(rule); text != "" {
			d.ok("second person", "%s", safe(text))
			return
		}
	}
}

func isLocal(host string) bool {
	ip, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && ip.IsLoopback()
}

// adminAddresses returns the addresses of admin listeners without TLS. It includes those of the
// running server and those in the configuration.
func (d *doctor) adminAddresses() (all []string) {
	if u, err := url.Parse(d.server); err == nil && u.Scheme == "http" && u.Host != "" {
		all = append(all, u.Host)
	}
	specs, _ := d.listeners(d.flags) // errors are those of the configuration
	for i := range specs {
		if specs[i].admin && specs[i].tls == tlsOff {
			all = append(all, specs[i].address)
		}
	}
	return all
}

// checkStore checks whether the store can be read. It also checks that the log is consistent with
// the heads that were recorded earlier. If it is not, a part of the history was lost or changed.
func (d *doctor) checkStore(ctx context.Context) {
	const check = "store"
	err := d.withStore(ctx, reads, func(b backend) error {
		head, err := b.Head(ctx)
		if err != nil {
			return err
		}
		for from, earlier := range d.knownHeads() {
			problem, err := follows(ctx, b, head, earlier)
			if err != nil {
				return err
			}
			if problem != "" {
				d.problem(check, "compare with a backup: 'nomen restore --rehearse'", "the history does not continue that of %s: %s", from, problem)
				return nil
			}
		}
		d.ok(check, "%s", safe(count(int64(head.Size), "change")))
		return nil
	})
	switch {
	case errors.As(err, new(*noStoreError)):
		d.problem(check, "", "%s", err)
	case err != nil:
		d.problem(check, "see docs/reference/failures.md", "%s", err)
	}
}

// knownHeads returns the heads of the log that were recorded in the data directory. The keys
// describe the origins of the heads, such as "the last backup".
func (d *doctor) knownHeads() map[string]store.Head {
	heads := map[string]store.Head{}
	if s, err := backups.Read(d.data); err == nil && s.Last() != nil {
		if h, err := store.ParseHead(s.Last().Head); err == nil {
			heads["the last backup"] = h
		}
	}
	if s := d.readScrub(); s != nil {
		if h, err := store.ParseHead(s.Head); err == nil {
			heads["the background verification"] = h
		}
	}
	if h, ok := publish.LastHead(filepath.Join(d.data, publishedFile)); ok {
		heads["the published checkpoint"] = h
	}
	return heads
}

func (d *doctor) checkPublished(context.Context) {
	const check = "published log"
	key := d.flags.publish.key
	switch {
	case key == "":
	case d.flags.checkPublish() != nil:
		d.problem(check, "see 'nomen log key new --help'", "%s", d.flags.checkPublish())
	case !strings.HasPrefix(key, "credential:") && isBelow(d.data, key):
		d.problem(check, "move the key elsewhere, and change log.key", "%s is in the data directory, so copies of the data have the key", key)
	default:
		d.ok(check, "the key fits the public URL")
	}
}

type scrubFile struct {
	Head string `json:"head"`
	Last struct {
		Ended  time.Time `json:"ended"`
		Faults uint64    `json:"faults"`
	} `json:"last"`
	Started time.Time `json:"started"`
	Faults  uint64    `json:"faults"`
}

func (d *doctor) readScrub() *scrubFile {
	var s scrubFile
	text, err := os.ReadFile(filepath.Join(d.data, "scrub.json"))
	if err != nil || json.Unmarshal(text, &s) != nil {
		return nil
	}
	return &s
}

// scrubOld is the maximum age of the last background verification before doctor reports it as too
// old.
const scrubOld = 7 * 24 * time.Hour

func (d *doctor) checkScrub(context.Context) {
	const check, verify = "verification", "run 'nomen verify'"
	s := d.readScrub()
	switch {
	case s == nil:
		d.warning(check, verify, "no background verification has run on this data directory")
	case s.Faults+s.Last.Faults > 0:
		d.problem(check, verify+", and see docs/howto/verify-the-history.md", "%s found in the store", safe(count(int64(max(s.Faults, s.Last.Faults)), "fault")))
	case s.Last.Ended.IsZero():
		d.ok(check, "the first background verification has not ended yet")
	case clock().Sub(s.Last.Ended) > scrubOld:
		d.warning(check, verify, "the last background verification ended %s ago", safe(ageText(clock().Sub(s.Last.Ended).Seconds())))
	default:
		d.ok(check, "no faults, %s ago", safe(ageText(clock().Sub(s.Last.Ended).Seconds())))
	}
}

func (d *doctor) checkBackups(context.Context) {
	const check = "backups"
	if d.inDatabase() {
		d.ok(check, "a database is backed up with its own tools, which doctor does not check")
		return
	}
	s, err := backups.Read(d.data)
	switch {
	case errors.Is(err, fs.ErrNotExist) && d.text("backup.to") == "":
		d.warning(check, "set backup.to in the configuration (docs/howto/back-up-and-restore.md)", "no backups are scheduled")
		return
	case errors.Is(err, fs.ErrNotExist):
		d.warning(check, "start the server", "no backup was made yet")
		return
	case err != nil:
		d.problem(check, "", "%s", err)
		return
	}
	status := backupStatusOf(&s, clock())
	if s.Plan == "" {
		last := "no backup was made"
		if status.Last != nil {
			last = "the last one is " + ageText(status.Age) + " old"
		}
		d.warning(check, "set backup.to in the configuration again (docs/howto/back-up-and-restore.md); if backups are made in another way, delete "+backups.File+" in the data directory to forget the earlier ones", "no backups are scheduled any more; %s", safe(last))
		return
	}
	for _, problem := range status.Problems {
		d.problem(check, "'nomen backup status' shows more", "%s", problem)
	}
	switch {
	case status.Problems != nil:
	case status.Rehearsed == nil:
		d.warning(check, "set backup.rehearse", "the last backup is %s old, and no backup was rehearsed", safe(ageText(status.Age)))
	default:
		d.ok(check, "%s; the last backup is %s old, and a backup was rehearsed", safe(count(int64(status.Count), "backup")), safe(ageText(status.Age)))
	}
	if status.Others > 0 {
		d.ok("other backups", "%s", safe(othersText(status.Others)))
	}
}
