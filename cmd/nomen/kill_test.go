package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/adminapi"
	"github.com/nomen-project/nomen/bulk"
	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/registrar"
	"github.com/nomen-project/nomen/store"
	"github.com/nomen-project/nomen/store/pebblestore"
	"github.com/nomen-project/nomen/store/pgstore"
	"github.com/nomen-project/nomen/store/pgstore/pgtest"
)

const (
	fewKills    = 5  // unless NOMEN_KILLS says how many
	killsOfOne  = 20 // number of kills after which a new store is used
	writers     = 4
	fileRecords = 200 // records in each imported file
	mostFiles   = 8   // maximum number of files imported between two kills

	firstOfEach = 2 * time.Minute // maximum time until a change, a file and a backup are acknowledged
)

// TestKill kills a server again and again while clients of the admin API change names, import files
// and make backups. After each restart, everything that was acknowledged is there (Y95-22), the
// store verifies, an export is complete, and each backup is complete.
func TestKill(t *testing.T) { killAll(t, false) }

// TestKillDatabase does the same with servers of a database. Every fourth time it also kills the
// database. It makes the backups with pg_dump.
func TestKillDatabase(t *testing.T) { killAll(t, true) }

func killAll(t *testing.T, database bool) {
	kills := fewKills
	if testing.Short() {
		kills = 2
	}
	if n, err := strconv.Atoi(os.Getenv("NOMEN_KILLS")); err == nil {
		kills = n
	}
	var total acknowledged
	for done := 0; done < kills && !t.Failed(); done += killsOfOne {
		v := newVictim(t, database)
		for round := done; round < min(done+killsOfOne, kills) && !t.Failed(); round++ {
			v.killOnce(t, round)
		}
		v.end(t)
		total.add(v.acked)
		if n := done + killsOfOne; n%100 == 0 {
			t.Logf("%d kills: %v", n, total)
		}
	}
	t.Logf("%d kills; %v; none lost", kills, total)
}

// acknowledged counts what the servers have acknowledged.
type acknowledged struct{ puts, files, backups int }

func (a *acknowledged) add(b acknowledged) {
	a.puts += b.puts
	a.files += b.files
	a.backups += b.backups
}

func (a acknowledged) String() string {
	return fmt.Sprintf("%d changes, %d files of %d records and %d backups acknowledged", a.puts, a.files, fileRecords, a.backups)
}

// A victim is a store whose servers are killed, and what they have acknowledged.
type victim struct {
	data   string
	args   []string       // of its servers
	db     *pgtest.Server // nil if the store is a directory
	backup string
	acked  acknowledged

	mu    sync.Mutex
	notes ledgerOfTest
	saved ledgerOfTest // what the last acknowledged backup must contain
}

// A ledgerOfTest says what a store or a backup must contain.
type ledgerOfTest struct {
	writes []int // number of the last write of each writer
	files  int   // number of imported files
}

func (v *victim) notebook() ledgerOfTest {
	v.mu.Lock()
	defer v.mu.Unlock()
	return ledgerOfTest{slices.Clone(v.notes.writes), v.notes.files}
}

// note changes the ledger and the counts.
func (v *victim) note(f func(n *ledgerOfTest, a *acknowledged)) {
	v.mu.Lock()
	defer v.mu.Unlock()
	f(&v.notes, &v.acked)
}

func newVictim(t *testing.T, database bool) *victim {
	t.Helper()
	dir := t.TempDir()
	v := &victim{data: filepath.Join(dir, "data"), backup: filepath.Join(dir, "backup"), args: []string{"--no-access-log"}}
	v.notes = ledgerOfTest{writes: make([]int, writers)}
	if !database {
		return v
	}
	var err error
	if v.db, err = pgtest.Start(pgtest.Options{Fsync: true}); err != nil {
		t.Fatal(err)
	}
	v.args = append(v.args, "--store", v.db.URL()+"&application_name=killed")
	return v
}

// killOnce starts a server, checks its store, runs the clients and kills the server.
func (v *victim) killOnce(t *testing.T, round int) {
	p, err := startServer(v.data, v.args...)
	if err != nil {
		v.fatal(t, err)
	}
	api := adminClient(t, v.data)
	v.check(t, api)
	v.checkBackup(t)
	v.work(t, p, api, round)
}

// end checks the store after the last kill, and removes it.
func (v *victim) end(t *testing.T) {
	p, err := startServer(v.data, v.args...)
	if err != nil {
		v.fatal(t, err)
	}
	v.check(t, adminClient(t, v.data))
	v.checkBackup(t)
	if err := p.stop(); err != nil {
		t.Error(err)
	}
	if v.db != nil {
		v.checkDump(t)
		if err := v.db.Stop(); err != nil {
			t.Error(err)
		}
	}
	if !t.Failed() {
		_ = os.RemoveAll(v.data) // a thousand kills need many directories
	}
}

func (v *victim) fatal(t *testing.T, err error) {
	t.Helper()
	if v.db != nil {
		t.Logf("log of the database:\n%s", v.db.Log())
		_ = v.db.Stop()
	}
	t.Fatal(err)
}

func adminClient(t *testing.T, data string) *adminapi.Client {
	t.Helper()
	c := &cli{data: data}
	api, err := c.server(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(filepath.Join(data, tokenFile))
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Fatalf("the token file: %v, %v; want mode 0600", info, err)
	}
	return api
}

// work runs the writers, the importer and the backups, and kills the server after a while. The
// first time, it waits until a change, a file and a backup were acknowledged. In some rounds it
// kills the database before the server.
func (v *victim) work(t *testing.T, p *process, api *adminapi.Client, round int) {
	t.Helper()
	var group sync.WaitGroup
	begun := v.notebook()
	for w := range writers {
		group.Go(func() {
			for n := begun.writes[w] + 1; write(api, w, n) == nil; n++ {
				v.note(func(l *ledgerOfTest, a *acknowledged) { l.writes[w] = n; a.puts++ })
			}
		})
	}
	group.Go(func() {
		for n := begun.files + 1; n <= begun.files+mostFiles && importFile(t, api, n) == nil; n++ {
			v.note(func(l *ledgerOfTest, a *acknowledged) { l.files = n; a.files++ })
		}
	})
	stop := make(chan struct{})
	group.Go(func() {
		for n := 0; v.save(api, n) == nil; n++ {
			select {
			case <-stop: // backups of a database do not end when the server is killed
				return
			default:
			}
		}
	})
	if round == 0 {
		v.awaitOne(t)
	}
	while := time.Duration(60+round*37%240) * time.Millisecond
	<-time.After(while)
	database := v.db != nil && round%4 == 3
	if database {
		if err := v.db.Kill(); err != nil {
			t.Error(err)
		}
		<-time.After(while / 4)
	}
	_ = p.kill()
	close(stop)
	group.Wait()
	if database {
		if err := v.db.Restart(); err != nil {
			v.fatal(t, err)
		}
	}
	if v.db != nil { // the database completes the transactions that it received before the server was killed
		if err := v.db.AwaitEnd("killed"); err != nil {
			v.fatal(t, err)
		}
	}
}

// awaitOne waits until at least one change, file and backup were acknowledged.
func (v *victim) awaitOne(t *testing.T) {
	t.Helper()
	for begun := time.Now(); ; <-time.After(10 * time.Millisecond) {
		v.mu.Lock()
		a := v.acked
		v.mu.Unlock()
		if a.puts > 0 && a.files > 0 && a.backups > 0 {
			return
		}
		if time.Since(begun) > firstOfEach {
			t.Errorf("after %v: %v", firstOfEach, a)
			return
		}
	}
}

// write creates the numbered name of a writer and changes its first one.
func write(api *adminapi.Client, writer, n int) error {
	reqs := []registrar.Request{request(writer, n, n), request(writer, 0, n)}
	outs, err := api.Apply(context.Background(), reqs, "kill test")
	if err != nil {
		return err
	}
	for _, out := range outs {
		if out.Err != nil {
			return out.Err
		}
	}
	return nil
}

func request(writer, which, n int) registrar.Request {
	spelling := fmt.Sprintf("urn:example:writer-%d:%d", writer, which)
	return registrar.Request{Expected: store.AnyRevision, Record: &store.Record{
		Name: name.MustParse(spelling), Spelling: spelling, Status: nomen.Active,
		Locations: []nomen.Location{{URL: fmt.Sprintf("https://h.example/%d", n)}},
	}}
}

// importFile imports the file with a number. A part of it may be in the store already.
func importFile(t *testing.T, api *adminapi.Client, n int) error {
	var file bytes.Buffer
	for i := range fileRecords {
		fmt.Fprintf(&file, "{\"name\":\"urn:example:file-%d:%d\",\"locations\":[{\"url\":\"https://h.example/%d\"}]}\n", n, i, n)
	}
	sum, err := api.Import(context.Background(), &file, bulk.ImportOptions{Why: "kill test"})
	if err == nil && (sum.Created+sum.Unchanged != fileRecords || sum.Refused+sum.Changed != 0) {
		t.Errorf("file %d: %+v, want %d created or unchanged", n, sum, fileRecords)
	}
	return err
}

// save makes a backup, and notes what it must contain.
func (v *victim) save(api *adminapi.Client, n int) error {
	has := v.notebook()
	var err error
	if v.db == nil {
		err = api.Backup(context.Background(), v.backup, nil)
	} else {
		file := fmt.Sprint(v.backup, n%2)
		if err = v.db.Dump(file); err == nil {
			err = os.Rename(file, v.backup)
		}
	}
	if err == nil {
		v.saved = has
		v.note(func(_ *ledgerOfTest, a *acknowledged) { a.backups++ })
	}
	return err
}

// check verifies the store and compares an export with what was acknowledged.
func (v *victim) check(t *testing.T, api *adminapi.Client) {
	t.Helper()
	if _, err := api.Verify(t.Context(), func(f store.Fault) { t.Errorf("verify: %+v", f) }, nil); err != nil {
		v.fatal(t, err)
	}
	var out bytes.Buffer
	sum, err := api.Export(t.Context(), &out, bulk.ExportOptions{Revisions: true})
	if err != nil {
		v.fatal(t, err)
	}
	all := readExported(t, &out)
	if sum.Read != int64(len(all)) {
		t.Errorf("the export says %d records and has %d", sum.Read, len(all))
	}
	v.notes.compare(t, all, true)
}

// An exportedLine has the fields of a line of an export that the test reads.
type exportedLine struct {
	Name      string
	Locations []struct{ URL string }
	Revision  int
}

func readExported(t *testing.T, out *bytes.Buffer) map[string]exportedLine {
	t.Helper()
	all := map[string]exportedLine{}
	for lines := bufio.NewScanner(out); lines.Scan(); {
		var l exportedLine
		if err := json.Unmarshal(lines.Bytes(), &l); err != nil || len(l.Locations) != 1 {
			t.Fatalf("line %q of the export: %v", lines.Text(), err)
		}
		all[l.Name] = l
	}
	return all
}

// compare checks that everything that was acknowledged is there. If now is set, it also checks that
// nothing else is there except what the clients may have written without an acknowledgement, and
// records that.
func (n *ledgerOfTest) compare(t *testing.T, all map[string]exportedLine, now bool) {
	t.Helper()
	expect := func(name string, number, revision int) bool {
		l, ok := all[name]
		return ok && l.Locations[0].URL == fmt.Sprintf("https://h.example/%d", number) && l.Revision == revision
	}
	count := 0
	for w, last := range n.writes {
		changing := fmt.Sprintf("urn:example:writer-%d:0", w)
		got := all[changing].Revision
		// The last change may have been made without having been acknowledged.
		if got < last || now && got > last+1 || got > 0 && !expect(changing, got, got) {
			t.Fatalf("the changing name of writer %d is %+v, and %d was acknowledged", w, all[changing], last)
		}
		for i := 1; i <= got; i++ {
			if !expect(fmt.Sprintf("urn:example:writer-%d:%d", w, i), i, 1) {
				t.Fatalf("write %d of writer %d is lost or half there; %d was acknowledged", i, w, last)
			}
		}
		if got > 0 {
			count += got + 1
		}
		if now {
			n.writes[w] = got
		}
	}
	for f := 1; f <= n.files; f++ {
		for i := range fileRecords {
			if !expect(fmt.Sprintf("urn:example:file-%d:%d", f, i), f, 1) {
				t.Fatalf("record %d of file %d was acknowledged and is lost", i, f)
			}
		}
	}
	if !now {
		return
	}
	count += n.files * fileRecords
	next := fmt.Sprintf("urn:example:file-%d:", n.files+1)
	for name := range maps.Keys(all) {
		if strings.HasPrefix(name, next) { // a part of a file whose import was interrupted
			count++
		}
	}
	if len(all) != count {
		t.Errorf("%d records, and %d were written", len(all), count)
	}
}

// checkBackup opens the backup, if there is one. It must be complete: either the acknowledged
// backup, or a later one.
func (v *victim) checkBackup(t *testing.T) {
	t.Helper()
	if v.db != nil || v.saved.writes == nil {
		return
	}
	dir := v.backup
	if _, err := os.Stat(dir); errors.Is(err, fs.ErrNotExist) {
		dir += ".old"
	}
	s, err := pebblestore.Open(pebblestore.Options{Dir: dir, ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	v.saved.compareStore(t, s)
}

// checkDump restores the last dump of a database and checks it.
func (v *victim) checkDump(t *testing.T) {
	t.Helper()
	if v.saved.writes == nil {
		return
	}
	url, err := v.db.Undump(v.backup, "restored")
	if err != nil {
		v.fatal(t, err)
	}
	s, err := pgstore.Open(t.Context(), pgstore.Options{URL: url})
	if err != nil {
		v.fatal(t, err)
	}
	defer s.Close()
	v.saved.compareStore(t, s)
}

// compareStore checks the copy of a store.
func (n *ledgerOfTest) compareStore(t *testing.T, s store.Store) {
	t.Helper()
	if _, err := store.Verify(t.Context(), s, func(f store.Fault) { t.Errorf("verify of a backup: %+v", f) }, nil); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if _, err := bulk.Export(t.Context(), s, &out, bulk.ExportOptions{Revisions: true}); err != nil {
		t.Fatal(err)
	}
	n.compare(t, readExported(t, &out), false)
}
