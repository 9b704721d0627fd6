package pebblestore

import (
	"archive/zip"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"math/rand/v2"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/vfs/errorfs"
	"pgregory.net/rapid"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/internal/codec"
	"github.com/nomen-project/nomen/internal/testrun"
	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/store"
)

var rekeyed = time.Date(2027, 1, 2, 3, 4, 5, 0, time.UTC)

// rules1 returns a disk in memory with a store that a program with version 1 of the rules has made.
// testdata/README.md says how.
func rules1(t *testing.T) *vfs.MemFS {
	t.Helper()
	z, err := zip.OpenReader(filepath.Join("testdata", "rules1.zip"))
	if err != nil {
		t.Fatal(err)
	}
	defer z.Close()
	mem := vfs.NewCrashableMem()
	check := func(err error) {
		if err != nil {
			t.Fatal(err)
		}
	}
	check(mem.MkdirAll("store", 0o755))
	for _, f := range z.File {
		in, err := f.Open()
		check(err)
		out, err := mem.Create(f.Name, vfs.WriteCategoryUnspecified)
		check(err)
		_, err = io.Copy(out, in)
		check(errors.Join(err, out.Sync(), out.Close(), in.Close()))
	}
	for _, dir := range []string{"store", ""} {
		d, err := mem.OpenDir(dir)
		check(err)
		check(errors.Join(d.Sync(), d.Close()))
	}
	return mem
}

// options returns the options for a store on a disk in memory. They allow all merges.
func options(disk vfs.FS) RekeyOptions {
	return RekeyOptions{Options: Options{Dir: "store", FS: disk, CacheSize: 1 << 20, Now: func() time.Time { return rekeyed }}, Merge: MergeRetiredToo, Who: "nomen rekey"}
}

// dump returns all keys and values of a store.
func dump(t *testing.T, disk vfs.FS, dir string) map[string]string {
	t.Helper()
	o := engineOptions(Options{Dir: dir, FS: disk, CacheSize: 1 << 20})
	o.ReadOnly = true
	db, err := pebble.Open(dir, o)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	v, err := newView(db)
	if err != nil {
		t.Fatal(err)
	}
	defer v.close()
	all := map[string]string{}
	for ok := v.it.First(); ok; ok = v.it.Next() {
		value, err := v.it.ValueAndErr()
		if err != nil {
			t.Fatal(err)
		}
		all[string(v.it.Key())] = string(value)
	}
	return all
}

// unsalted is like dump, but omits random values and what is computed from them.
func unsalted(t *testing.T, disk vfs.FS, dir string) map[string]string {
	t.Helper()
	all := dump(t, disk, dir)
	for key, value := range all {
		switch key[0] {
		case spaceName, spaceAuthority, spaceHistory:
			all[key] = value[:len(value)-store.SaltSize]
		case spaceLog:
			all[key] = value[markSize:]
		case spaceNode:
			all[key] = ""
		}
	}
	delete(all, metaID)
	return all
}

// beside returns the names in the directory that contains the store.
func beside(t *testing.T, disk vfs.FS) []string {
	t.Helper()
	list, err := disk.List("")
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(list)
	return list
}

// history returns the changes of a name, oldest first.
func history(t *testing.T, s *Store, key string) []*store.Change {
	t.Helper()
	var all []*store.Change
	for c, err := range s.History(t.Context(), name.FromKey(key)) {
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, c)
	}
	slices.Reverse(all)
	return all
}

func textOf(m Move) string {
	kind := map[store.Kind]string{store.KindName: "name", store.KindAuthority: "authority", store.KindToken: "token"}[m.Kind]
	text := fmt.Sprintf("%s %s > %s", kind, strings.Join(m.Old, " "), m.New)
	if m.Blocks() {
		text += " !"
	}
	return text
}

const (
	moveISBN = "name urn:isbn:978-951-0-18435-6 > urn:isbn:9789510184356"
	retired  = "name urn:isbn:0-306-40615-2 urn:isbn:9780306406157 > urn:isbn:9780306406157"
)

func TestRekeyTellsWhatMoves(t *testing.T) {
	want := []string{
		"authority urn:isbn:978-3 > ",
		"token urn:MRN:IALA > urn:mrn:iala",
		"token urn:isbn:978-3 > ",
		"token urn:isbn:978-3 > ",
		retired + " !",
		"name urn:isbn:3-16-148410-X urn:isbn:978-3-16-148410-0 urn:isbn:9783161484100 > urn:isbn:9783161484100 !",
		moveISBN,
		"name urn:issn:12341231 > urn:issn:1234-1231",
		"name urn:issn:2434-561X urn:issn:2434561X > urn:issn:2434-561X !",
		"name urn:lei:7ltwfzyicnsx8d621k86 > urn:lei:7LTWFZYICNSX8D621K86",
		"name urn:mrn:IALA:Aton:US:1234.5 > urn:mrn:iala:aton:US:1234.5",
		"name urn:uuid:F81D4FAE-7DEC-11D0-A765-00A0C91E6BF6 > urn:uuid:f81d4fae-7dec-11d0-a765-00a0c91e6bf6",
		"authority urn:mrn:IALA urn:mrn:iala > urn:mrn:iala !",
	}
	for _, tt := range []struct {
		merge   Merge
		dry     bool
		blocked int64
	}{{MergeNothing, true, 4}, {MergeNothing, false, 4}, {MergeSafe, false, 1}, {MergeSafe, true, 1}, {MergeRetiredToo, true, 0}} {
		disk := rules1(t)
		before := dump(t, disk, "store")
		o := options(disk)
		o.Merge, o.DryRun = tt.merge, tt.dry
		var got []string
		o.Move = func(m Move) { got = append(got, textOf(m)) }
		res, err := Rekey(t.Context(), o)
		if err != nil || res.Blocked != tt.blocked || res.From != 1 || res.To != name.RulesVersion || res.Kept != "" {
			t.Errorf("N12-54: %+v: %+v, %v", tt, res, err)
		}
		expected := slices.Clone(want)
		for i, s := range expected {
			if tt.merge == MergeRetiredToo || tt.merge == MergeSafe && !strings.HasPrefix(s, retired) {
				expected[i] = strings.TrimSuffix(s, " !")
			}
		}
		if !slices.Equal(got, expected) {
			t.Errorf("%+v: moves\n%s\nwant\n%s", tt, strings.Join(got, "\n"), strings.Join(expected, "\n"))
		}
		if !maps.Equal(dump(t, disk, "store"), before) || !slices.Equal(beside(t, disk), []string{"store"}) {
			t.Errorf("%+v: something was changed; there is %q", tt, beside(t, disk))
		}
	}
}

func TestRekey(t *testing.T) {
	disk := rules1(t)
	before := dump(t, disk, "store")
	if _, err := Open(Options{Dir: "store", FS: disk}); !errors.As(err, new(*store.VersionError)) {
		t.Fatalf("Open: %v, want a VersionError", err)
	}
	res, err := Rekey(t.Context(), options(disk))
	want := RekeyResult{From: 1, To: name.RulesVersion, Moved: 11, United: 9, Kept: "store.rules-1"}
	if err != nil || res != want {
		t.Fatalf("Rekey = %+v, %v; want %+v", res, err, want)
	}
	if got := beside(t, disk); !slices.Equal(got, []string{"store", "store.rules-1"}) {
		t.Errorf("there is %q", got)
	}
	if !maps.Equal(dump(t, disk, "store.rules-1"), before) {
		t.Error("the store that was kept is not as it was")
	}
	s := openMem(t, disk)
	if n, _, err := s.Count(t.Context()); err != nil || n != 17 {
		t.Errorf("Count = %d, %v; want 17", n, err)
	}
	t.Run("moved", func(t *testing.T) {
		all := history(t, s, "urn:isbn:9789510184356")
		if len(all) != 2 || all[0].Why != "the first time" || all[1].Why != "a second place" || all[1].Expected != 1 {
			t.Fatalf("history %+v", all)
		}
		r := all[1].Record
		if r.Spelling != "urn:isbn:978-951-0-18435-6" || len(r.Locations) != 2 || r.Metadata["title"][0] != "First book" || r.Revision != 2 {
			t.Errorf("record %+v", r)
		}
		if r, err := s.Get(t.Context(), name.MustParse("urn:isbn:9510184357"), all[0].Time); err != nil || len(r.Locations) != 1 {
			t.Errorf("as of the first change: %+v, %v", r, err)
		}
		if all := history(t, s, "urn:isbn:978-951-0-18435-6"); len(all) != 0 {
			t.Errorf("the old key has %+v", all)
		}
	})
	t.Run("united", func(t *testing.T) {
		all := history(t, s, "urn:isbn:9783161484100")
		r := all[len(all)-1].Record
		var urls []string
		for _, l := range r.Locations {
			urls = append(urls, strings.TrimPrefix(l.URL, "https://example.org/book/2"))
		}
		if len(all) != 5 || r.Revision != 5 || r.Status != nomen.Active || !slices.Equal(urls, []string{"/old", "", "/new"}) {
			t.Errorf("%d changes, record %+v", len(all), r)
		}
		if !slices.Equal(r.Metadata["title"], []string{"The second book", "Second book"}) || r.Metadata["creator"][0] != "Author" {
			t.Errorf("metadata %v", r.Metadata)
		}
		if !slices.Equal(r.SameAs, []string{"https://other.example/2", "urn:isbn:978-3-16-148410-0"}) || r.Spelling != "urn:ISBN:3-16-148410-X" {
			t.Errorf("spelling %q, same_as %q", r.Spelling, r.SameAs)
		}
		last := all[4]
		if last.Who != "nomen rekey" || !strings.Contains(last.Why, "urn:isbn:978-3-16-148410-0") || !last.Time.Equal(rekeyed) {
			t.Errorf("the change that unites: %+v", last)
		}
		for i, c := range all[1:] {
			if c.Record.Status != nomen.Active || c.Expected != uint64(i+1) || c.Time.Before(all[i].Time) {
				t.Errorf("change %d: %+v", i+1, c)
			}
		}
	})
	t.Run("retired and active", func(t *testing.T) {
		all := history(t, s, "urn:isbn:9780306406157")
		var statuses []nomen.Status
		for _, c := range all {
			statuses = append(statuses, c.Record.Status)
		}
		r := all[len(all)-1].Record
		if !slices.Equal(statuses, []nomen.Status{nomen.Active, nomen.Retired, nomen.Active, nomen.Active}) || len(r.Locations) != 1 || r.Reason != "" || !slices.Equal(r.SameAs, []string{"urn:isbn:0-306-40615-2"}) {
			t.Errorf("%q, record %+v", statuses, r)
		}
	})
	t.Run("deleted and active", func(t *testing.T) {
		all := history(t, s, "urn:issn:2434-561X")
		if len(all) != 3 || all[0].Record.Status != nomen.Reserved || all[1].Delete.IsZero() || all[2].Record.Revision != 3 {
			t.Errorf("history %+v", all)
		}
	})
	t.Run("unmoved", func(t *testing.T) {
		if all := history(t, s, "urn:dns:example.org:many"); len(all) != 3 {
			t.Errorf("%d changes, want 3", len(all))
		}
		for _, key := range []string{"urn:isbn:978-951-0-18435-5", "urn:nbn:fi:lb", "urn:nbn:fi-fe201003181510", "ark:12345/x54"} {
			if _, err := s.Get(t.Context(), name.MustParse(key), noTime); err != nil {
				t.Errorf("%s: %v", key, err)
			}
		}
	})
	t.Run("authorities", func(t *testing.T) {
		a, err := s.Authority(t.Context(), name.MustParsePrefix("urn:mrn:iala"), noTime)
		if err != nil || !slices.Equal(a.Owners, []string{"three", "one", "two"}) || !slices.Equal(a.Hosts, []string{"iala.example"}) || a.Revision != 4 {
			t.Errorf("authority %+v, %v", a, err)
		}
		if _, err := s.Authority(t.Context(), name.PrefixFromKey("urn:mrn:IALA"), noTime); err != store.ErrNotFound {
			t.Errorf("the old authority: %v", err)
		}
		if _, err := s.Authority(t.Context(), name.PrefixFromKey("urn:isbn:978-3"), noTime); err != nil {
			t.Errorf("an authority that is not a prefix: %v", err)
		}
	})
	t.Run("tokens", func(t *testing.T) {
		got := map[string][]string{}
		for key, value := range dump(t, rekeyedDisk(t), "store") {
			if key[0] == spaceToken {
				c, err := codec.Decode(store.Subject{Kind: store.KindToken, Key: key[1:]}, []byte(value))
				if err != nil {
					t.Fatal(err)
				}
				got[c.Token.Who] = c.Token.Prefixes
			}
		}
		// A token without any prefix would be valid for all names.
		want := map[string][]string{"buoys": {"urn:mrn:iala"}, "books": {"urn:isbn:978-3"}, "all": nil}
		for who, prefixes := range want {
			if have, ok := got[who]; !ok || !slices.Equal(have, prefixes) {
				t.Errorf("token of %s: prefixes %q, want %q", who, have, prefixes)
			}
		}
	})
	t.Run("again", func(t *testing.T) {
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		res, err := Rekey(t.Context(), options(disk))
		if want := (RekeyResult{From: name.RulesVersion, To: name.RulesVersion}); err != nil || res != want {
			t.Errorf("Rekey = %+v, %v; want %+v", res, err, want)
		}
	})
}

// rekeyedDisk returns a disk with the store as it is after Rekey.
func rekeyedDisk(t *testing.T) *vfs.MemFS {
	t.Helper()
	disk := rules1(t)
	if _, err := Rekey(t.Context(), options(disk)); err != nil {
		t.Fatal(err)
	}
	return disk
}

// TestRekeyCrash copies the disk as a crash before each operation would leave it. The copy must
// have the old store or the new one, and another Rekey must produce the new one.
func TestRekeyCrash(t *testing.T) {
	want := unsalted(t, rekeyedDisk(t), "store")
	disk := rules1(t)
	old := dump(t, disk, "store")
	random := rand.New(rand.NewPCG(1, 2))
	var mu sync.Mutex // two databases write concurrently
	var crashed []*vfs.MemFS
	injector := errorfs.InjectorFunc(func(op errorfs.Op) error {
		if op.Kind.ReadOrWrite() == errorfs.OpIsWrite {
			mu.Lock()
			defer mu.Unlock()
			crashed = append(crashed, disk.CrashClone(vfs.CrashCloneCfg{UnsyncedDataPercent: 50 * random.IntN(3), RNG: random}))
		}
		return nil
	})
	o := options(errorfs.Wrap(disk, injector))
	if _, err := Rekey(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	crashed = append(crashed, disk.CrashClone(vfs.CrashCloneCfg{}))
	olds, news := 0, 0
	step := testrun.Repeats(1, 4) // at the end, when the new store replaces the old one, a crash before every operation is tried
	for i, disk := range crashed {
		if i%step != 0 && i < len(crashed)-20 {
			continue
		}
		s, err := Open(Options{Dir: "store", FS: disk, CacheSize: 1 << 20})
		switch {
		case err == nil:
			news++
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			if kept, err := isThere(disk, "store.rules-1"); !kept || err != nil {
				t.Errorf("crash %d: the old store is gone (%v)", i, err)
			}
		case errors.As(err, new(*store.VersionError)):
			olds++
			if !maps.Equal(dump(t, disk, "store"), old) {
				t.Errorf("crash %d: the old store is not as it was", i)
			}
			if _, err := Rekey(t.Context(), options(disk)); err != nil {
				t.Errorf("crash %d: Rekey again: %v", i, err)
				continue
			}
			if got := beside(t, disk); slices.ContainsFunc(got, func(s string) bool { return strings.Contains(s, ".rekey") }) {
				t.Errorf("crash %d: after Rekey again there is %q", i, got)
			}
		default:
			t.Errorf("crash %d: Open: %v", i, err)
			continue
		}
		if !maps.Equal(unsalted(t, disk, "store"), want) {
			t.Errorf("crash %d: the new store is not as it should be", i)
		}
	}
	if olds*step < 50 || news < 2 {
		t.Errorf("%d crashes left the old store, %d the new one: want more", olds, news)
	}
}

// TestRekeyDiskFails checks that Rekey fails if an operation fails. Then the old store must be in
// place, or the next Open must put the new one in place.
func TestRekeyDiskFails(t *testing.T) {
	want := unsalted(t, rekeyedDisk(t), "store")
	for _, failing := range []struct {
		from string
		now  bool // the new store is complete
	}{{"store.rekeying", false}, {"store", false}, {"store.rekeyed", true}} {
		disk := rules1(t)
		injector := errorfs.InjectorFunc(func(op errorfs.Op) error {
			if op.Kind == errorfs.OpRename && op.Path == failing.from {
				return errorfs.ErrInjected
			}
			return nil
		})
		if _, err := Rekey(t.Context(), options(errorfs.Wrap(disk, injector))); !errors.Is(err, errorfs.ErrInjected) {
			t.Errorf("%s cannot be renamed: %v", failing.from, err)
		}
		s, err := Open(Options{Dir: "store", FS: disk})
		if failing.now != (err == nil) {
			t.Errorf("%s could not be renamed: Open: %v", failing.from, err)
		}
		if s != nil {
			_ = s.Close()
		} else if _, err := Rekey(t.Context(), options(disk)); err != nil {
			t.Errorf("%s could not be renamed: Rekey: %v", failing.from, err)
		}
		if !maps.Equal(unsalted(t, disk, "store"), want) {
			t.Errorf("%s could not be renamed: the new store is not as it should be", failing.from)
		}
	}
}

// TestRekeyDiskFull checks that, if any file cannot be written, the error of Rekey has one line and
// Rekey leaves no files.
func TestRekeyDiskFull(t *testing.T) {
	for _, file := range []string{
		"store.rekeying/*.sst", "store.rekeying/MANIFEST-*", "store.rekeying/OPTIONS-*", "store.rekeying/marker.*",
		"store.rekeying-order/*.sst", "store.rekeying-order/MANIFEST-*", "store.rekeying-moves/*.sst", "store.rekeying-moves/MANIFEST-*", "store.rekey*/*",
	} {
		for _, kinds := range [][]errorfs.OpKind{{errorfs.OpCreate}, {errorfs.OpFileWrite}, {errorfs.OpFileSync, errorfs.OpFileSyncData, errorfs.OpFileSyncTo}} {
			disk := rules1(t)
			old := dump(t, disk, "store")
			failed := false
			injector := errorfs.InjectorFunc(func(op errorfs.Op) error {
				if ok, _ := path.Match(file, op.Path); ok && slices.Contains(kinds, op.Kind) {
					failed = true
					return syscall.ENOSPC
				}
				return nil
			})
			_, err := Rekey(t.Context(), options(fresh{errorfs.Wrap(disk, injector)}))
			if failed && (!errors.Is(err, syscall.ENOSPC) || strings.Contains(err.Error(), "\n") || !strings.HasSuffix(err.Error(), "; the old store is unchanged")) {
				t.Errorf("%s %v: error %v, want one line of ENOSPC", file, kinds, err)
			}
			if err != nil && (!maps.Equal(dump(t, disk, "store"), old) || !slices.Equal(beside(t, disk), []string{"store"})) {
				t.Errorf("%s %v: something was changed; there is %q", file, kinds, beside(t, disk))
			}
		}
	}
}

// TestFillerGivesUp checks that a filler fails if its data cannot be written to disk.
func TestFillerGivesUp(t *testing.T) {
	injector := errorfs.InjectorFunc(func(op errorfs.Op) error {
		if op.Kind == errorfs.OpCreate && strings.HasSuffix(op.Path, ".sst") {
			return syscall.ENOSPC
		}
		return nil
	})
	r := &rekeyer{o: options(errorfs.Wrap(vfs.NewMem(), injector))}
	w, err := r.filler("moves")
	if err != nil {
		t.Fatal(err)
	}
	value := []byte(strings.Repeat("x", 1<<20))
	for i := 0; err == nil; i++ {
		if i > 4*fillerFlush/len(value) {
			t.Fatal("it goes on")
		}
		err = w.set(fmt.Append(nil, "key", i), value)
	}
	if !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("error %v, want ENOSPC", err)
	}
	_ = w.batch.Close()
	_ = r.closeDatabases()
}

// TestUnitedRedactions checks that, in a merged history, a redaction has the new numbers of the
// revisions that it redacts, and that redacted content appears nowhere.
func TestUnitedRedactions(t *testing.T) {
	s := strand{revisions: []uint64{2, 3, 7}}
	if got := s.renumbered([]uint64{1, 3, 4}); !slices.Equal(got, []uint64{2, 7}) {
		t.Errorf("renumbered: %v", got)
	}
	redacted := (&store.Change{Record: active("urn:issn:12341231"), Time: time.Unix(1, 0), Who: "w", Why: "secret"}).Redact()
	redacted.Record.Status = nomen.Active
	reserved := &store.Change{Record: &store.Record{Name: name.FromKey("urn:issn:1234-1231"), Status: nomen.Reserved}, Time: time.Unix(2, 0), Who: "v"}
	m := Move{Kind: store.KindName, Old: []string{"urn:issn:1234-1231", "urn:issn:12341231"}, New: "urn:issn:1234-1231"}
	c := shown(m, []*store.Change{reserved, redacted}, 0)
	if !c.Redacted || c.Who != "" || !c.Record.Redacted || len(c.Record.Locations) > 0 || !c.Time.Equal(reserved.Time) {
		t.Errorf("%+v", c)
	}
	redacted.Redacts = []uint64{1}
	if c := union(m, []*store.Change{reserved, redacted}, rekeyed, "x"); c.Redacts != nil {
		t.Errorf("the change that unites redacts %v", c.Redacts)
	}
}

func TestRekeyRefuses(t *testing.T) {
	t.Run("locked", func(t *testing.T) {
		disk := vfs.NewMem()
		openMem(t, disk)
		if _, err := Rekey(t.Context(), options(disk)); !errors.Is(err, ErrLocked) {
			t.Errorf("%v, want ErrLocked", err)
		}
	})
	t.Run("missing", func(t *testing.T) {
		disk := vfs.NewMem()
		if _, err := Rekey(t.Context(), options(disk)); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%v, want ErrNotExist", err)
		}
		if got := beside(t, disk); len(got) > 0 {
			t.Errorf("there is %q", got)
		}
	})
	for _, tt := range []struct {
		key   string
		value uint64
	}{{metaRules, name.RulesVersion + 1}, {metaFormat, formatVersion + 1}} {
		t.Run("newer "+tt.key, func(t *testing.T) {
			disk := vfs.NewMem()
			s := openMem(t, disk)
			set(t, s, tt.key, encodeNumber(tt.value))
			_ = s.Close()
			if _, err := Rekey(t.Context(), options(disk)); !errors.As(err, new(*store.VersionError)) {
				t.Errorf("%v, want a VersionError", err)
			}
		})
	}
	t.Run("damaged", func(t *testing.T) {
		disk := vfs.NewMem()
		s := openMem(t, disk)
		write(t, s, 1, 2)
		set(t, s, metaRules, encodeNumber(1))
		set(t, s, "nurn:isbn:9510184357", []byte("?"))
		_ = s.Close()
		if _, err := Rekey(t.Context(), options(disk)); !errors.As(err, new(*CorruptError)) {
			t.Errorf("%v, want a CorruptError", err)
		}
		if got := beside(t, disk); !slices.Equal(got, []string{"store"}) {
			t.Errorf("there is %q", got)
		}
	})
	t.Run("cancelled", func(t *testing.T) {
		for stage := range []string{"reading", "writing", "verifying"} {
			disk := rules1(t)
			ctx, cancel := context.WithCancelCause(t.Context())
			o := options(disk)
			told := 0
			o.Progress = func(string, int64, uint64) {
				if told++; told > stage {
					cancel(nil)
				}
			}
			if _, err := Rekey(ctx, o); !errors.Is(err, context.Canceled) {
				t.Errorf("%v, want Canceled", err)
			}
			if got := beside(t, disk); !slices.Equal(got, []string{"store"}) {
				t.Errorf("there is %q", got)
			}
		}
	})
}

// old creates a store with changes and version 1 of the rules, and closes it.
func old(t *testing.T, disk vfs.FS, changes ...store.Change) {
	t.Helper()
	s := openMem(t, disk)
	for i, c := range changes {
		c.Expected = store.AnyRevision
		if c.Time.IsZero() {
			c.Time = time.Unix(int64(i), 0)
		}
		if _, err := s.Apply(t.Context(), []store.Change{c}); err != nil {
			t.Fatal(err)
		}
	}
	set(t, s, metaRules, encodeNumber(1))
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
}

func active(key string) *store.Record {
	return &store.Record{Name: name.FromKey(key), Locations: []nomen.Location{{URL: "https://example.org/" + key}}}
}

// TestRekeyMarks checks that, in a store in which nothing moves, Rekey only changes the version of
// the rules, and writes the aliases again, because they depend on the rules.
func TestRekeyMarks(t *testing.T) {
	disk := vfs.NewCrashableMem()
	r := active("urn:example:a")
	r.SameAs = []string{"doi:10.5072/A", "https://example.org/"}
	old(t, disk, store.Change{Record: r})
	want := dump(t, disk, "store")
	want[metaRules] = string(encodeNumber(name.RulesVersion))
	db, err := pebble.Open("store", engineOptions(Options{Dir: "store", FS: disk, CacheSize: 1 << 20}))
	if err != nil {
		t.Fatal(err)
	}
	from, to := store.AliasSpan()
	stale := appendPlace(nil, store.Place{URL: from + "urn:example:gone", Name: r.Name})
	err = errors.Join(
		db.DeleteRange(appendEscaped([]byte{spaceLocation}, from), appendEscaped([]byte{spaceLocation}, to), pebble.Sync),
		db.Set(stale, nil, pebble.Sync),
		db.Close(),
	)
	if err != nil {
		t.Fatal(err)
	}
	res, err := Rekey(t.Context(), options(disk))
	if err != nil || res.Kept != "" || res.From != 1 || res.Moved != 0 {
		t.Errorf("%+v, %v", res, err)
	}
	if crashed := disk.CrashClone(vfs.CrashCloneCfg{}); !maps.Equal(dump(t, crashed, "store"), want) || !slices.Equal(beside(t, disk), []string{"store"}) {
		t.Errorf("the store is not as it should be; there is %q", beside(t, disk))
	}
	s := openMem(t, disk)
	if names, err := store.Aliased(t.Context(), s, name.MustParse("doi:10.5072/a")); err != nil || len(names) != 1 || names[0] != r.Name {
		t.Errorf("Aliased: %v, %v", names, err)
	}
}

// TestRekeyKeepsEarlierStores checks that Rekey renames the old store to a path that does not exist
// yet.
func TestRekeyKeepsEarlierStores(t *testing.T) {
	disk := rules1(t)
	for _, dir := range []string{"store.rules-1", "store.rules-1.2", "store.rekeying", "store.rekeying-moves", "store.rekeyed"} {
		if err := disk.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	res, err := Rekey(t.Context(), options(disk))
	if err != nil || res.Kept != "store.rules-1.3" {
		t.Errorf("%+v, %v", res, err)
	}
	if got := beside(t, disk); !slices.Equal(got, []string{"store", "store.rules-1", "store.rules-1.2", "store.rules-1.3"}) {
		t.Errorf("there is %q", got)
	}
}

// TestRekeyFolds checks an authority that folds case and covers more names under the new rules,
// because its prefix now ends at other delimiters. The elements of these names must be in lower
// case after Rekey.
func TestRekeyFolds(t *testing.T) {
	disk := vfs.NewMem()
	old(
		t, disk,
		store.Change{Authority: &store.Authority{Prefix: name.PrefixFromKey("urn:cts:latinLit:phi0119"), FoldCase: true}},
		store.Change{Record: active("urn:cts:latinLit:phi0119.phi001.perseus-Eng1")},
		store.Change{Record: active("urn:cts:latinLit:phi0120.phi001.perseus-Eng1")},
	)
	if _, err := Rekey(t.Context(), options(disk)); err != nil {
		t.Fatal(err)
	}
	s := openMem(t, disk)
	for _, key := range []string{"urn:cts:latinLit:phi0119.phi001.perseus-eng1", "urn:cts:latinLit:phi0120.phi001.perseus-Eng1"} {
		if _, err := s.Get(t.Context(), name.FromKey(key), noTime); err != nil {
			t.Errorf("%s: %v", key, err)
		}
	}
}

// TestRekeyNeverWidens checks that a token never covers more names because one of its prefixes is
// no longer valid.
func TestRekeyNeverWidens(t *testing.T) {
	disk := vfs.NewMem()
	old(
		t, disk,
		store.Change{Authority: &store.Authority{Prefix: name.PrefixFromKey("urn:example:a:")}},
		store.Change{Record: active("urn:issn:12341231")},
		store.Change{Token: &store.Token{ID: "t", Prefixes: []string{"urn:isbn:978", "urn:example:a::", "urn:uuid:f81d4fae"}}},
		store.Change{Token: &store.Token{ID: "u", Prefixes: []string{"urn:isbn:978", "urn:IETF:rfc:"}}},
	)
	if _, err := Rekey(t.Context(), options(disk)); err != nil {
		t.Fatal(err)
	}
	s := openMem(t, disk)
	if _, err := s.Authority(t.Context(), name.PrefixFromKey("urn:example:a:"), noTime); err != nil {
		t.Errorf("authority: %v", err)
	}
	for id, want := range map[string][]string{"t": {"urn:isbn:978", "urn:example:a::", "urn:uuid:f81d4fae"}, "u": {"urn:ietf:rfc:"}} {
		if tok, err := s.Token(t.Context(), id); err != nil || !slices.Equal(tok.Prefixes, want) {
			t.Errorf("token %s: %+v, %v; want prefixes %q", id, tok, err, want)
		}
	}
}

// TestRekeyLimits checks that a merge that would exceed a limit blocks the conversion.
func TestRekeyLimits(t *testing.T) {
	disk := vfs.NewMem()
	var changes []store.Change
	for _, key := range []string{"urn:issn:12341231", "urn:issn:1234-1231"} {
		r := active(key)
		for i := range store.MaxLocations - 1 {
			r.Locations = append(r.Locations, nomen.Location{URL: fmt.Sprint("https://example.org/", key, i)})
		}
		changes = append(changes, store.Change{Record: r})
	}
	old(t, disk, changes...)
	o := options(disk)
	var told []Move
	o.Move = func(m Move) { told = append(told, m) }
	res, err := Rekey(t.Context(), o)
	if err != nil || res.Blocked != 1 || len(told) != 1 || !strings.Contains(told[0].Problem, "locations: 2000 exceeds the limit of 1000") {
		t.Errorf("%+v, %v: %+v", res, err, told)
	}
}

// TestRekeyAnything rekeys stores with random histories of many spellings of a few names. No change
// may be lost, and the merged histories must follow the rules for the states of names.
func TestRekeyAnything(t *testing.T) {
	spellings := map[string][]string{
		"urn:issn:1234-1231":      {"urn:issn:12341231", "urn:issn:1234-1231"},
		"urn:isbn:9789510184356":  {"urn:isbn:9510184357", "urn:isbn:951-0-18435-7", "urn:isbn:9789510184356", "urn:isbn:978-9510184356"},
		"urn:iso:std:iso:9999":    {"urn:iso:std:iso:9999", "urn:iso:STD:ISO:9999"},
		"urn:example:z":           {"urn:example:z"},
		"urn:isbn:978-3-16-14841": {"urn:isbn:978-3-16-14841"},
	}
	var keys []string
	for _, list := range spellings {
		keys = append(keys, list...)
	}
	slices.Sort(keys)
	testrun.Checks(t, 20)
	rapid.Check(t, func(r *rapid.T) {
		disk := vfs.NewMem()
		s := openMem(t, disk)
		kept := map[string][]*store.Change{}
		for i := range rapid.IntRange(0, 40).Draw(r, "changes") {
			c := anyChange(r, rapid.SampledFrom(keys).Draw(r, "key"), i)
			if res, err := s.Apply(t.Context(), []store.Change{c}); err == nil && res[0].Changed {
				last := c.Subject().Key
				kept[last] = append(kept[last], history(t, s, last)[res[0].Revision-1])
			}
		}
		set(t, s, metaRules, encodeNumber(1))
		_ = s.Close()
		if _, err := Rekey(t.Context(), options(disk)); err != nil {
			r.Fatal(err)
		}
		s = openMem(t, disk)
		defer s.Close()
		count := int64(0)
		for key, list := range spellings {
			var members [][]*store.Change
			for _, old := range list {
				if len(kept[old]) > 0 {
					members = append(members, kept[old])
				}
			}
			count += judge(r, history(t, s, key), members)
		}
		if n, _, err := s.Count(t.Context()); err != nil || n != count {
			r.Fatalf("Count = %d, %v; want %d", n, err, count)
		}
	})
}

func anyChange(r *rapid.T, key string, i int) store.Change {
	c := store.Change{Expected: store.AnyRevision, Time: time.Unix(int64(rapid.IntRange(0, 5).Draw(r, "time")), 0), Who: fmt.Sprint("who", i)}
	switch rapid.IntRange(0, 4).Draw(r, "what") {
	case 0:
		c.Delete = name.FromKey(key)
	case 1:
		c.Record = &store.Record{Name: name.FromKey(key), Status: nomen.Reserved, Reason: fmt.Sprint(i)}
	case 2:
		c.Record = &store.Record{Name: name.FromKey(key), Status: nomen.Retired, Reason: fmt.Sprint(i)}
	default:
		c.Record = active(key)
		c.Record.Metadata = nomen.Metadata{"title": {fmt.Sprint(i)}}
	}
	return c
}

// judge compares the history of a name with the histories that were merged into it. It returns the
// number of records that the name has: one or none.
func judge(r *rapid.T, all []*store.Change, members [][]*store.Change) int64 {
	want, alive := 0, 0
	for _, list := range members {
		want += len(list)
		alive += int(list[len(list)-1].Records())
		at := 0
		for _, old := range list { // the merged history must have each change, in the same order
			for at < len(all) && (all[at].Who != old.Who || !all[at].Time.Equal(old.Time)) {
				at++
			}
			if at == len(all) {
				r.Fatalf("the change %+v is not in %+v", old, all)
			}
			if got := all[at]; rank(got) < rank(old) || rank(got) == rank(old) && old.Record != nil && got.Record.Reason != old.Record.Reason {
				r.Fatalf("the change %+v became %+v", old, got)
			}
			at++
		}
	}
	if alive > 1 {
		want++
	}
	if len(all) != want {
		r.Fatalf("%d changes, want %d", len(all), want)
	}
	var last *store.Change
	for i, c := range all {
		if c.Expected != uint64(i) || last != nil && c.Time.Before(last.Time) {
			r.Fatalf("change %d is %+v", i, c)
		}
		if rank(last) > 1 && rank(c) < 2 {
			r.Fatalf("a public name became %+v", c) // Y95-22, Y95-25
		}
		last = c
	}
	if alive == 0 {
		return 0
	}
	for _, list := range members {
		if end := list[len(list)-1]; rank(end) > rank(last) || rank(end) == rank(last) && end.Record != nil && end.Record.Metadata != nil && !slices.Contains(last.Record.Metadata["title"], end.Record.Metadata["title"][0]) {
			r.Fatalf("%+v is not in the union %+v", end, last)
		}
	}
	return 1
}

// TestSameHistories checks that the function same notices missing, additional and different
// changes.
func TestSameHistories(t *testing.T) {
	s := store.Subject{Kind: store.KindName, Key: "urn:example:a"}
	one, two := &store.Change{Record: active(s.Key), Time: time.Unix(1, 0)}, &store.Change{Record: active(s.Key), Expected: 1, Time: time.Unix(2, 0)}
	seq := func(list ...*store.Change) func(func(*store.Change, error) bool) {
		return func(yield func(*store.Change, error) bool) {
			for _, c := range list {
				if !yield(c, nil) {
					return
				}
			}
		}
	}
	if err := same(s, seq(one, two), seq(one, two)); err != nil {
		t.Error(err)
	}
	for i, got := range [][]*store.Change{{}, {one}, {two, one}, {one, two, two}, {one, one}} {
		if err := same(s, seq(one, two), seq(got...)); err == nil {
			t.Errorf("%d: no error", i)
		}
	}
}

// TestRekeyLogs checks that a store of another format is rejected, and that the log of the new
// store has the changes in the order of their times, then of kind, key and revision.
func TestRekeyLogs(t *testing.T) {
	disk := vfs.NewMem()
	at := func(seconds int64, c store.Change) store.Change {
		c.Time = time.Unix(seconds, 0)
		return c
	}
	second := active("urn:example:a")
	second.Reason = "again"
	old(
		t, disk,
		at(9, store.Change{Authority: &store.Authority{Prefix: name.PrefixFromKey("urn:example")}}),
		at(3, store.Change{Record: active("urn:example:a")}),
		at(5, store.Change{Record: second}),
		at(4, store.Change{Record: active("urn:issn:12341231")}),
		at(3, store.Change{Record: active("urn:example:c")}),
		at(1, store.Change{Token: &store.Token{ID: "t"}}),
	)
	if _, err := Rekey(t.Context(), options(disk)); err != nil {
		t.Fatal(err)
	}
	s := openMem(t, disk)
	var got []string
	for e, err := range s.Changes(t.Context(), 0) {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, fmt.Sprint(e.Change.Subject().Key, " ", e.Change.Revision()))
	}
	if want := []string{"urn:example:a 1", "urn:example:c 1", "urn:issn:1234-1231 1", "urn:example:a 2", "urn:example 1"}; !slices.Equal(got, want) {
		t.Errorf("log %q, want %q", got, want)
	}
	if tok, err := s.Token(t.Context(), "t"); err != nil || tok.ID != "t" {
		t.Errorf("token %+v, %v", tok, err)
	}
	head, err := s.Verify(t.Context(), func(f store.Fault) { t.Errorf("%+v", f) }, nil)
	if err != nil || head.Size != 5 {
		t.Errorf("Verify: %v, %v", head, err)
	}
	if res, err := Rekey(t.Context(), options(disk)); !errors.Is(err, ErrLocked) {
		t.Errorf("Rekey of an open store: %+v, %v", res, err)
	}
}
