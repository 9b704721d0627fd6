package cache

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"time"

	"github.com/nomen-project/nomen/client"
	"github.com/nomen-project/nomen/format"
)

// version is the version of the format of entries. docs/reference/files.md has its history.
const version = "1"

// magic is the beginning of every entry. The checksum of the other lines follows on the same line.
const magic = "nomen-cache " + version + " "

// A header has the fields of an entry except the answer.
type header struct {
	Key        string            `json:"key"`
	Confirmed  time.Time         `json:"confirmed"`
	Private    bool              `json:"private,omitempty"`
	Validators client.Validators `json:"validators"`
}

var errDamaged = errors.New("the entry is damaged")

// encode writes an entry as three lines: the version with a checksum, the header, and the answer.
func encode(e Entry) ([]byte, error) {
	var body bytes.Buffer
	h := header{Key: e.Key, Confirmed: e.Confirmed.UTC(), Private: e.Answer.Private, Validators: e.Validators}
	if err := json.NewEncoder(&body).Encode(h); err != nil {
		return nil, err
	}
	if err := format.WriteJSON(&body, e.Answer); err != nil {
		return nil, err
	}
	sum := sha256.Sum256(body.Bytes())
	out := make([]byte, 0, len(magic)+2*len(sum)+1+body.Len())
	out = append(out, magic...)
	out = hex.AppendEncode(out, sum[:])
	out = append(out, '\n')
	return append(out, body.Bytes()...), nil
}

// decode parses the result of encode.
func decode(b []byte) (Entry, error) {
	rest, ok := bytes.CutPrefix(b, []byte(magic))
	sum, body, ok2 := bytes.Cut(rest, []byte("\n"))
	if !ok || !ok2 {
		return Entry{}, errDamaged
	}
	if want := sha256.Sum256(body); hex.EncodeToString(want[:]) != string(sum) {
		return Entry{}, errDamaged
	}
	first, second, _ := bytes.Cut(body, []byte("\n"))
	var h header
	if err := json.Unmarshal(first, &h); err != nil {
		return Entry{}, err
	}
	a, err := format.ReadJSON(bytes.NewReader(second), "")
	if err != nil {
		return Entry{}, err
	}
	a.Private = h.Private
	return Entry{Key: h.Key, Answer: a, Validators: h.Validators, Confirmed: h.Confirmed}, nil
}
