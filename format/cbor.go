package format

import (
	"bytes"
	"encoding/json"
	"io"
	"math/big"
	"reflect"

	"github.com/fxamacker/cbor/v2"

	"github.com/nomen-project/nomen"
)

// writeCBOR writes the members of [WriteJSON] as CBOR, in the core deterministic encoding of RFC
// 8949, section 4.2.1. Equal answers are therefore encoded as equal octets by all programs, as
// hashes and signatures require (draft of 1995, section 3.1.1).
func writeCBOR(w io.Writer, a *nomen.Answer) error {
	var text bytes.Buffer
	if err := WriteJSON(&text, a); err != nil {
		return err
	}
	d := json.NewDecoder(&text)
	d.UseNumber()
	var value any
	if err := d.Decode(&value); err != nil {
		return err
	}
	mode, err := cbor.CoreDetEncOptions().EncMode()
	if err != nil {
		return err
	}
	b, err := mode.Marshal(integers(value))
	if err != nil {
		return err
	}
	_, err = w.Write(b)
	return err
}

// integers replaces each integer of type [json.Number] in a value by a [big.Int].
func integers(value any) any {
	switch v := value.(type) {
	case json.Number:
		if n, ok := new(big.Int).SetString(v.String(), 10); ok {
			return n
		}
	case []any:
		for i := range v {
			v[i] = integers(v[i])
		}
	case map[string]any:
		for k := range v {
			v[k] = integers(v[k])
		}
	}
	return value
}

// readCBOR reads the output of [writeCBOR] without loss. It accepts any encoding of the same data,
// except for tags, invalid UTF-8 and duplicate members.
func readCBOR(r io.Reader, asked nomen.Service) (*nomen.Answer, error) {
	fail := func(err error) (*nomen.Answer, error) {
		return nil, &Error{Format: TypeCBOR, Rule: "cbor", Message: err.Error()}
	}
	b, err := readAll(r, TypeCBOR)
	if err != nil {
		return nil, err
	}
	mode, err := cbor.DecOptions{
		DupMapKey: cbor.DupMapKeyEnforcedAPF, IndefLength: cbor.IndefLengthForbidden, TagsMd: cbor.TagsForbidden, UTF8: cbor.UTF8RejectInvalid,
		MaxNestedLevels: 8, DefaultMapType: reflect.TypeFor[map[string]any](),
	}.DecMode()
	if err != nil {
		return fail(err)
	}
	var value any
	if err := mode.Unmarshal(b, &value); err != nil {
		return fail(err)
	}
	text, err := json.Marshal(value)
	if err != nil {
		return fail(err)
	}
	a, err := ReadJSON(bytes.NewReader(text), asked)
	if err != nil {
		return fail(err)
	}
	return a, nil
}
