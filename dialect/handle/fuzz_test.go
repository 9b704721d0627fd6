package handle

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/nomen-project/nomen"
)

// The parameters of the scheme Handle are few, and their names are tokens in lower case.
func FuzzParseAnswer(f *testing.F) {
	for _, text := range []string{`sessionId="x", id="300:1/A"`, `a=b,c="d\"e"`, `a="b`, `a=b=c, A=d`, `clientCert="true"`, ",,,", "a= b"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		a, ok := parseAnswer(text)
		if !ok {
			return
		}
		if len(a) > maxAnswer {
			t.Errorf("%d parameters", len(a))
		}
		for key := range a {
			if !isToken(key) || key != strings.ToLower(key) {
				t.Errorf("the name %q", key)
			}
		}
		_ = a.problem()
	})
}

// A place is a URL to which a browser can be sent, and the fields of a header have no line breaks.
func FuzzPlaces(f *testing.F) {
	for _, text := range []string{
		`<locations chooseby="locatt,country,weighted" http_sc="303"><location id="0" href="https://a.example/" country="gb" weight="0"/></locations>`,
		`<locations no_legacy="1"><location href_template="https://b.example/{hdl}" weight="NaN" rel="item" title="é"/></locations>`,
		`<locations><location href="javascript:alert(1)"/><location href="//x"/><location href="https:x"/></locations>`,
		`<locations choose_by="score,address"><location href="http://c.example/" score="1e999" addresses="10.0.0.0/8, x"/></locations>`,
		"Link: <https://a.example/>; rel=x\nSet-Cookie: x=1",
		"<a", "",
	} {
		f.Add(text, "id:0")
	}
	f.Fuzz(func(t *testing.T, text, locatt string) {
		values := []nomen.Value{
			{Index: 1, Type: "URL", Data: text}, {Index: 2, Type: typeLocations, Data: text}, {Index: 3, Type: typeLinks, Data: text}, {Index: 4, Type: typeHeaders, Data: text},
		}
		p := placesOf("20.500.9999/x", values, newIncluder("x", func(handle string) (string, []nomen.Value, error) { return handle, values, nil }))
		for _, l := range p.all {
			u, err := url.Parse(l.url)
			if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" && u.Scheme != "ftp" || !isFieldValue(l.url) {
				t.Errorf("the place %q", l.url)
			}
		}
		for _, random := range []float64{0, 0.5, 0.999} {
			if _, ok := p.pick(&visitor{country: "gb", locatt: []string{locatt}}, func() float64 { return random }); ok != (len(p.all) > 0) {
				t.Errorf("a place was chosen among %d: %t", len(p.all), ok)
			}
		}
		h := http.Header{}
		addFields(h, &p)
		for key, all := range h {
			for _, value := range all {
				if !isFieldValue(value) || key == "Set-Cookie" {
					t.Errorf("the field %s: %q", key, value)
				}
			}
		}
	})
}

// Values that a client gives can be shown again.
func FuzzReadValues(f *testing.F) {
	for _, body := range []string{
		`[{"index":1,"type":"URL","data":"https://example.org/"}]`, `{"values":[]}`, `{"index":1,"type":"T","data":{"format":"hex","value":"ff"}}`,
		`[{"idx":1,"type":"HS_ADMIN","parsed_data":{"handle":"0.NA/1","index":"200","permissions":"011"}}]`,
		`[{"index":3,"type":"T","data":{"format":"admin","value":{"handle":"1/2","index":1,"permissions":true}},"ttl":"2027-01-01T00:00:00Z","permissions":"*","references":[{"handle":"a","index":1}]}]`,
	} {
		f.Add(body)
	}
	f.Fuzz(func(t *testing.T, body string) {
		if epic, err := readEpic(strings.NewReader(body)); err == nil {
			if all, err := indexed(epic, nil); err == nil {
				for i := range all {
					if all[i].Index < 1 {
						t.Errorf("the value %+v has no index", all[i])
					}
				}
				if _, err := epicShown(all); err != nil {
					t.Errorf("%+v: %v", all, err)
				}
			}
		}
		all, err := readValues(strings.NewReader(body), "20.500.9999/x")
		if err != nil {
			return
		}
		for i := range all {
			text, err := json.Marshal(shown(&all[i]))
			if err != nil {
				t.Fatalf("%+v: %v", all[i], err)
			}
			again, err := readValues(strings.NewReader("["+string(text)+"]"), "20.500.9999/x")
			if err != nil || len(again) != 1 || again[0].Data != all[i].Data || again[0].Format != all[i].Format || again[0].References != all[i].References {
				t.Errorf("%s is read as %+v, %v", text, again, err)
			}
		}
	})
}
