package pgstore

import (
	"fmt"
	"testing"

	"github.com/nomen-project/nomen/internal/codec"
	"github.com/nomen-project/nomen/internal/testrun"
	"github.com/nomen-project/nomen/store"
	"github.com/nomen-project/nomen/store/storetest"
)

// TestDamages damages the tables in various ways. Change number i is revision i/7+1 of
// urn:x-a:(i mod 7).
func TestDamages(t *testing.T) {
	subject := func(n int) store.Subject { return store.Subject{Kind: store.KindName, Key: fmt.Sprint("urn:x-a:", n)} }
	other := codec.Append(nil, &store.Change{Record: put("urn:x-a:3", "u:else", 0).Record, Expected: 9, Time: put("", "", 0).Time})
	var url string
	do := func(sql string, args ...any) func(t *testing.T, s store.Store) store.Store {
		return func(t *testing.T, s store.Store) store.Store {
			t.Helper()
			tag, err := connect(t, url).Exec(t.Context(), sql, args...)
			if err != nil || tag.RowsAffected() == 0 {
				t.Fatalf("%s: %v, %d rows", sql, err, tag.RowsAffected())
			}
			return s
		}
	}
	all := []storetest.Damage{
		{Name: "content of the past altered", Subject: subject(3), Seq: 67, Do: do("update nomen_past set value = set_byte(value, length(value)-2, 65) where key = 'urn:x-a:3' and revision = 10")},
		{Name: "content of the past replaced", Subject: subject(3), Seq: 67, Do: do("update nomen_past set value = $1 where key = 'urn:x-a:3' and revision = 10", other)},
		{Name: "content of the present altered", Subject: subject(6), Do: do("update nomen_present set value = set_byte(value, length(value)-2, 65) where key = 'urn:x-a:6'")},
		{Name: "content that cannot be read", Subject: subject(3), Seq: 67, Do: do("update nomen_past set value = 'x' where key = 'urn:x-a:3' and revision = 10")},
		{Name: "authority altered", Subject: store.Subject{Kind: store.KindAuthority, Key: "urn:x-a:"}, Seq: 601, Do: do("update nomen_present set value = set_byte(value, 1, 65) || '\\x00' where kind = 2")},
		{Name: "salt altered", Subject: subject(3), Seq: 67, Do: do("update nomen_past set salt = set_byte(salt, 3, get_byte(salt, 3) # 1) where key = 'urn:x-a:3' and revision = 10")},
		{Name: "salt cut", Subject: subject(3), Seq: 67, Do: do("update nomen_past set salt = substr(salt, 2) where key = 'urn:x-a:3' and revision = 10")},
		{Name: "digest of what was redacted altered", Subject: subject(0), Seq: 1, Do: do("update nomen_past set salt = set_byte(salt, 3, get_byte(salt, 3) # 1) where key = 'urn:x-a:0' and revision = 1")},
		{Name: "time altered", Subject: subject(3), Seq: 67, Do: do("update nomen_past set time = time + 1 where key = 'urn:x-a:3' and revision = 10")},
		{Name: "revision altered", Subject: subject(3), Seq: 67, Do: do("update nomen_past set revision = 1000 where key = 'urn:x-a:3' and revision = 10")},
		{Name: "moved to another name", Subject: subject(3), Seq: 67, Do: do("update nomen_past set key = 'urn:x-b' where key = 'urn:x-a:3' and revision = 10")},
		{Name: "moved, as the other sees it", Subject: store.Subject{Kind: store.KindName, Key: "urn:x-b"}, Do: do("update nomen_past set key = 'urn:x-b' where key = 'urn:x-a:3' and revision = 10")},
		{Name: "removed from the past", Subject: subject(3), Seq: 67, Do: do("delete from nomen_past where key = 'urn:x-a:3' and revision = 10")},
		{Name: "removed from the present", Subject: subject(6), Do: do("delete from nomen_present where key = 'urn:x-a:6'")},
		{Name: "made one's past present", Subject: subject(6), Do: do("with gone as (delete from nomen_past where key = 'urn:x-a:6' and revision = 84 returning *) update nomen_present p set value = g.value, salt = g.salt, time = g.time, revision = g.revision from gone g where p.key = 'urn:x-a:6'")},
		{Name: "added to the past", Subject: subject(3), Do: do("insert into nomen_past select time, 500, kind, key, salt, value from nomen_past where key = 'urn:x-a:3' and revision = 10")},
		{Name: "added to the present", Subject: store.Subject{Kind: store.KindName, Key: "urn:x-b"}, Do: do("insert into nomen_present select time, revision, kind, 'urn:x-b', salt, value from nomen_past where key = 'urn:x-a:3' and revision = 1")},
		{Name: "there twice", Subject: subject(6), Do: do("insert into nomen_past select * from nomen_present where key = 'urn:x-a:6'")},
		{Name: "redacted content back", Subject: subject(0), Seq: 1, Do: do("update nomen_past p set value = o.value, salt = o.salt from nomen_past o where p.key = 'urn:x-a:0' and p.revision = 1 and o.key = 'urn:x-a:1' and o.revision = 1")},
		{Name: "entry of the log altered", Seq: 257, Do: do("update nomen_log set entries = set_byte(entries, 3, 65) where chunk = 1")},
		{Name: "row of the log cut", Do: do("update nomen_log set entries = substr(entries, 1, length(entries)-1) where chunk = 1")},
		{Name: "rows of the log exchanged", Do: do("update nomen_log set chunk = 1 - chunk + 1000 where chunk < 2; update nomen_log set chunk = chunk - 1000 where chunk > 999")},
		{Name: "row of the log removed", Do: do("delete from nomen_log where chunk = 1")},
		{Name: "row of the log added", Seq: 603, Do: do("insert into nomen_log select 3, entries, hashes from nomen_log where chunk = 1")},
		{Name: "hash of a full row altered", Seq: 512, Do: do("update nomen_log set hashes = set_byte(hashes, 3, get_byte(hashes, 3) # 1) where chunk = 1")},
		{Name: "hash above a row altered", Seq: 512, Do: do("update nomen_log set hashes = set_byte(hashes, 40, get_byte(hashes, 40) # 1) where chunk = 1")},
		{Name: "hash of the last row altered", Seq: 513, Do: do("update nomen_log set hashes = set_byte(hashes, 3, get_byte(hashes, 3) # 1) where chunk = 2")},
		{Name: "head altered", Do: do("update nomen_head set hash = set_byte(hash, 3, get_byte(hash, 3) # 1)")},
		{Name: "head shortened", Do: do("update nomen_head set size = size - 1")},
		{Name: "head lengthened", Do: do("update nomen_head set size = size + 300")},
		{Name: "names miscounted", Do: do("update nomen_head set names = names + 1")},
		{Name: "location missing", Subject: subject(6), Do: do("delete from nomen_place where key = 'urn:x-a:6'")},
		{Name: "location of another", Subject: subject(5), Do: do("insert into nomen_place select head, mark, 'urn:x-a:5', rest from nomen_place where key = 'urn:x-a:6'")},
		{Name: "location in the wrong place", Subject: subject(6), Do: do("update nomen_place set mark = '\\x01' where key = 'urn:x-a:6'")},
		{Name: "waits, and is not there", Subject: subject(9), Do: do("insert into nomen_pending (part, names, id, entries) values (0, 0, '', $1)",
			(&entry{kind: store.KindName, key: "urn:x-a:9", revision: 1}).appendTo(nil, 32))},
		{Name: "what waits cannot be read", Do: do("insert into nomen_pending (part, names, id, entries) values (0, 0, '', '\\x01')")},
		{Name: "head removed", Do: do("delete from nomen_head")},
		{Name: "token that cannot be read", Subject: store.Subject{Kind: store.KindToken, Key: "ab"}, Do: do("insert into nomen_token (id, value) values ('ab', 'x')")},
	}
	storetest.Damages(t, func(t *testing.T) store.Store {
		url = newURL(t, shared)
		s := open(t, url)
		return s
	}, testrun.Some(all, 4))
}
