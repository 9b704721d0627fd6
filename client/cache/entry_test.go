package cache

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"testing"
	"time"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/client"
	"github.com/nomen-project/nomen/name"
)

// Whatever is read from a file is the same after writing and reading it again.
func FuzzDecode(f *testing.F) {
	whole, err := encode(Entry{
		Key: "k", Confirmed: time.Unix(1e9, 0), Validators: client.Validators{From: "x", Tag: `"t"`, Modified: "Mon, 02 Jan 2006 15:04:05 GMT"},
		Answer: &nomen.Answer{Service: nomen.I2C, Name: name.MustParse("urn:ietf:rfc:1"), Status: nomen.Active, Locations: []nomen.Location{{URL: "https://example.org/"}}},
	})
	if err != nil {
		f.Fatal(err)
	}
	_, body, _ := bytes.Cut(whole, []byte("\n"))
	f.Add(body)
	f.Add([]byte("{}\n{}\n"))
	f.Add([]byte("null\nnull"))
	f.Fuzz(func(t *testing.T, body []byte) {
		sum := sha256.Sum256(body)
		text := append([]byte(magic+hex.EncodeToString(sum[:])+"\n"), body...)
		e, err := decode(text)
		if err != nil {
			return
		}
		again, err := encode(e)
		if err != nil {
			t.Fatalf("%q was read, and cannot be written: %v", body, err)
		}
		second, err := decode(again)
		if err != nil || second.Key != e.Key || second.Validators != e.Validators || !second.Confirmed.Equal(e.Confirmed) || second.Answer.Name != e.Answer.Name {
			t.Errorf("%q became %+v, then %+v, %v", body, e, second, err)
		}
	})
}
