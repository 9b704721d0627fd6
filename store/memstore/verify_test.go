package memstore

import (
	"testing"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/store"
	"github.com/nomen-project/nomen/store/storetest"
)

// TestDamage checks that Verify finds everything that was changed in the memory of the store
// without Apply.
func TestDamage(t *testing.T) {
	x := store.Subject{Kind: store.KindName, Key: "urn:x-a:0"}
	damage := func(name string, subject store.Subject, seq uint64, do func(s *Store)) storetest.Damage {
		return storetest.Damage{Name: name, Subject: subject, Seq: seq, Do: func(_ *testing.T, s store.Store) store.Store {
			do(s.(*Store))
			return s
		}}
	}
	names := func(s *Store) map[string][]version { return s.tables[store.KindName].versions }
	storetest.Damages(t, func(*testing.T) store.Store { return New() }, []storetest.Damage{
		damage("ContentAltered", x, 8, func(s *Store) { s.log.entries[7].Change.Record.Locations[0].URL = "u:x" }),
		damage("WhoAltered", x, 8, func(s *Store) { s.log.entries[7].Change.Who = "x" }),
		damage("StatusOfRedactedAltered", store.Subject{}, 256, func(s *Store) { s.log.entries[0].Change.Record.Status = "retired" }),
		damage("TimeOfRedactedAltered", store.Subject{}, 256, func(s *Store) { s.log.entries[0].Change.Time = s.log.entries[0].Change.Time.Add(-1e9) }),
		damage("AlteredWithDigest", store.Subject{}, 256, func(s *Store) {
			e := s.log.entries[7]
			e.Change.Who = "x"
			var log sealedLog
			log.seal(e.Change)
			e.Salt, e.Digest = log.entries[0].Salt, log.entries[0].Digest
		}),
		damage("LastAlteredWithDigest", store.Subject{}, 0, func(s *Store) { s.log.entries[599].Digest[0]++ }),
		damage("NodeAltered", store.Subject{}, 512, func(s *Store) { s.log.nodes[place{9, 0}] = [32]byte{} }),
		damage("EntryRemoved", store.Subject{Kind: store.KindName, Key: "urn:x-a:4"}, 600, func(s *Store) {
			s.log.entries = append(s.log.entries[:599:599], s.log.entries[600:]...)
		}),
		damage("EntriesExchanged", x, 8, func(s *Store) {
			e := s.log.entries
			e[7], e[8] = e[8], e[7]
		}),
		damage("ChangeRemoved", store.Subject{Kind: store.KindName, Key: "urn:x-a:4"}, 600, func(s *Store) {
			v := names(s)["urn:x-a:4"]
			names(s)["urn:x-a:4"] = v[:len(v)-1]
		}),
		damage("ChangeInTheMiddleRemoved", x, 15, func(s *Store) {
			v := names(s)["urn:x-a:0"]
			names(s)["urn:x-a:0"] = append(v[:1:1], v[2:]...)
		}),
		damage("RecordRemoved", store.Subject{Kind: store.KindName, Key: "urn:x-a:3"}, 4, func(s *Store) { delete(names(s), "urn:x-a:3") }),
		damage("RecordAdded", store.Subject{Kind: store.KindName, Key: "urn:x-a:7"}, 0, func(s *Store) {
			r := &store.Record{Name: name.FromKey("urn:x-a:7"), Status: nomen.Active}
			names(s)["urn:x-a:7"] = []version{{moment: 1, change: &store.Change{Record: r}}}
		}),
		damage("RedactedWithoutLeave", x, 8, func(s *Store) {
			v := &names(s)["urn:x-a:0"][1]
			v.change = v.change.Redact()
			s.log.redact(v.seq, v.change)
		}),
		damage("RedactionUndone", x, 1, func(s *Store) {
			v := &names(s)["urn:x-a:0"][0]
			back := *names(s)["urn:x-a:0"][1].change
			back.Expected = 0
			v.change = &back
			s.log.entries[0] = &store.Entry{Seq: 1, Change: &back, Digest: s.log.entries[0].Digest}
		}),
		damage("Recounted", store.Subject{}, 0, func(s *Store) { s.count++ }),
		damage("Cut", store.Subject{Kind: store.KindName, Key: "urn:x-a:0"}, 0, func(s *Store) { s.log.entries = s.log.entries[:601] }),
	})
}
