package hdl

import (
	"strings"
	"testing"

	"github.com/nomen-project/nomen"
)

func TestNames(t *testing.T) {
	for _, tt := range []struct{ handle, escaped string }{
		{"20.500.9999/abc", "20.500.9999/abc"},
		{"20.500.9999/a b%20ä?#", "20.500.9999/a%20b%2520%C3%A4%3F%23"},
	} {
		if got := Escape(tt.handle); got != tt.escaped {
			t.Errorf("got %s, want %s", got, tt.escaped)
		}
		if got, ok := Of("HDL:" + tt.escaped); !ok || got != tt.handle {
			t.Errorf("got %s, %v, want %s", got, ok, tt.handle)
		}
	}
	if _, ok := Of("urn:example:a"); ok {
		t.Error("a URN is a handle")
	}
	if got := Schemes("10.1/a"); len(got) != 2 || len(Schemes("20.500/a")) != 1 {
		t.Errorf("got %v", got)
	}
}

// TestLine checks lines of batch files in both directions.
func TestLine(t *testing.T) {
	for _, tt := range []struct {
		line  string
		value nomen.Value
	}{
		{"1 URL 86400 1110 UTF8 https://example.org/1", nomen.Value{Index: 1, Type: "URL", TTL: "86400", Data: "https://example.org/1"}},
		{"2 DESC 0 0110 UTF8  two  spaces ", nomen.Value{Index: 2, Type: "DESC", TTL: "0", Permissions: "0110", Data: " two  spaces "}},
		{"3 DESC 60 1110 UTF8 ", nomen.Value{Index: 3, Type: "DESC", TTL: "60"}},
		{
			"100 HS_ADMIN 86400 1110 ADMIN 300:100000000011:0.NA/20:5",
			nomen.Value{Index: 100, Type: "HS_ADMIN", TTL: "86400", Format: FormatAdmin, Data: `{"handle":"0.NA/20:5","index":300,"permissions":"110000000001"}`},
		},
		{
			"7 HS_VLIST 86400 1110 LIST 300:1/a;301:1/b c;",
			nomen.Value{Index: 7, Type: "HS_VLIST", TTL: "86400", Format: FormatList, Data: `[{"handle":"1/a","index":300},{"handle":"1/b c","index":301}]`},
		},
	} {
		got, open, err := ParseLine(tt.line)
		if err != nil || open || got != tt.value {
			t.Errorf("%s: got %+v, %v, %v", tt.line, got, open, err)
		}
		line, err := AppendLine(nil, &tt.value)
		if err != nil || string(line) != tt.line+"\n" {
			t.Errorf("%+v: got %q, %v", tt.value, line, err)
		}
	}
	if v, open, err := ParseLine("100 HS_ADMIN 86400 1110 ADMIN"); err != nil || !open || v.Index != 100 {
		t.Errorf("got %+v, %v, %v", v, open, err)
	}
	if line, _ := AppendLine(nil, &nomen.Value{Index: 1, Type: "URL"}); string(line) != "1 URL 86400 1110 UTF8 \n" {
		t.Errorf("got %q", line)
	}
}

func TestInvalidLine(t *testing.T) {
	for line, want := range map[string]string{
		"":                                   "column 1: missing index",
		"1 URL 1 1110 UTF8 \xff\xfe":         "column 19: the line is not UTF-8",
		"1":                                  "column 2: missing type",
		"0 URL 1 1110 UTF8 x":                "column 1: invalid index",
		"99999999999 URL 1 1110 UTF8 x":      "column 1: invalid index",
		"1 URL -1 1110 UTF8 x":               "column 7: invalid TTL",
		"1 URL 1 110 UTF8 x":                 "column 9: invalid permissions",
		"1 URL 1 1112 UTF8 x":                "column 9: invalid permissions",
		"1 URL 1 1110 BASE64 x":              "column 14: unknown encoding",
		"1 K 1 1110 FILE /hs/admpub.bin":     "column 17: the data are in a file",
		"1 A 1 1110 ADMIN 1:111:a":           "column 18: invalid data of HS_ADMIN",
		"1 A 1 1110 ADMIN 1:1111111111111:a": "column 18: invalid data of HS_ADMIN",
		"1 V 1 1110 LIST a":                  "column 17: invalid reference",
	} {
		if _, _, err := ParseLine(line); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%q: got %v, want %s", line, err, want)
		}
	}
	for want, v := range map[string]nomen.Value{
		"line breaks":      {Index: 1, Type: "URL", Data: "a\nb"},
		"as TTL":           {Index: 1, Type: "URL", TTL: "2026-11-22T04:00:00Z"},
		"the type":         {Index: 1, Type: "a b"},
		"format base64":    {Index: 1, Type: "a", Format: "base64", Data: "AA=="},
		"format site":      {Index: 1, Type: "a", Format: "site", Data: "{}"},
		"those of HS_ADMI": {Index: 1, Type: "a", Format: FormatAdmin, Data: `{"permissions":"1"}`},
		"those of HS_VLIS": {Index: 1, Type: "a", Format: FormatList, Data: `{}`},
	} {
		if line, err := AppendLine(nil, &v); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: got %q, %v, want %s", v, line, err, want)
		}
	}
}

// TestDecodeData checks the bytes of the SQL storage.
func TestDecodeData(t *testing.T) {
	admin := "\x07\xf3\x00\x00\x00\x04a/bc\x00\x00\x01\x2c"
	list := "\x00\x00\x00\x01\x00\x00\x00\x04a/bc\x00\x00\x01\x2c"
	for _, tt := range []struct{ kind, data, format, want string }{
		{"URL", "https://example.org/ä\n", "", "https://example.org/ä\n"},
		{"URL", "\xff", "base64", "/w=="},
		{TypeAdmin, admin, FormatAdmin, `{"handle":"a/bc","index":300,"permissions":"011111110011"}`},
		{TypeAdmin, admin + "x", "base64", "B/MAAAAEYS9iYwAAASx4"},
		{TypeAdmin, "\xff\xff\x00\x00\x00\x00\x00\x00\x00\x00", "base64", "//8AAAAAAAAAAA=="},
		{TypeList, list, FormatList, `[{"handle":"a/bc","index":300}]`},
		{TypeList, "\x7f\xff\xff\xff", "base64", "f////w=="},
	} {
		if format, got := DecodeData(tt.kind, []byte(tt.data)); format != tt.format || got != tt.want {
			t.Errorf("%s %q: got %s %s, want %s %s", tt.kind, tt.data, format, got, tt.format, tt.want)
		}
	}
}

// FuzzParseLine checks that a line that is read is written with the same meaning.
func FuzzParseLine(f *testing.F) {
	f.Add("1 URL 86400 1110 UTF8 https://example.org/1")
	f.Add("100 HS_ADMIN 86400 1110 ADMIN 300:100000000011:0.NA/20")
	f.Add("7 HS_VLIST 86400 1110 LIST 300:1/a;301:1/b c;")
	f.Fuzz(func(t *testing.T, line string) {
		if strings.ContainsAny(line, "\r\n") {
			return
		}
		v, open, err := ParseLine(line)
		if err != nil || open {
			return
		}
		text, err := AppendLine(nil, &v)
		if err != nil {
			t.Fatalf("%q: %+v: %v", line, v, err)
		}
		if again, _, err := ParseLine(strings.TrimSuffix(string(text), "\n")); err != nil || again != v {
			t.Fatalf("%q became %q: %+v, %v, want %+v", line, text, again, err, v)
		}
	})
}

// FuzzDecodeData checks that any bytes can be read.
func FuzzDecodeData(f *testing.F) {
	f.Add(TypeList, []byte("\x00\x00\x00\x01\x00\x00\x00\x04a/bc\x00\x00\x01\x2c"))
	f.Fuzz(func(t *testing.T, kind string, data []byte) {
		format, text := DecodeData(kind, data)
		if v := (nomen.Value{Data: text, Format: format}); format == nomen.FormatText || format == nomen.FormatBase64 {
			if got, err := v.Bytes(); err != nil || string(got) != string(data) {
				t.Fatalf("%q became %s %q", data, format, text)
			}
		}
	})
}

func TestDecodeReferences(t *testing.T) {
	for text, want := range map[string]string{
		"":                            "",
		"1:1/a":                       `[{"handle":"1/a","index":1}]`,
		"0:20.500/b:c%0009300:0.NA/1": `[{"handle":"20.500/b:c","index":0},{"handle":"0.NA/1","index":300}]`,
		"1:1/%00E4%D83D%DE00%0025":    `[{"handle":"1/ä😀%","index":1}]`,
		`2:1/a\\tb\tc\nd\re`:          `[{"handle":"1/a\\tb\tc\nd\re","index":2}]`,
		"1:1/a%":                      `[{"handle":"1/a%","index":1}]`,
		"1:1/<&>":                     `[{"handle":"1/<&>","index":1}]`,
		"1":                           "invalid",
		"1:":                          "invalid",
		"-1:1/a":                      "invalid",
		"2147483648:1/a":              "invalid",
		"x:1/a":                       "invalid",
		"1:1/ä":                       "invalid",
		"1:1/%00zzz":                  "invalid",
		"1:1/a%0009":                  "invalid",
	} {
		list, ok := DecodeReferences(text)
		got := ReferencesText(list)
		if !ok {
			got = "invalid"
		}
		if got != want {
			t.Errorf("%q: got %s, want %s", text, got, want)
		}
	}
}
