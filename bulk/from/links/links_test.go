package links

import (
	"bytes"
	"strings"
	"testing"

	"github.com/nomen-project/nomen/bulk/from"
)

// convert returns the records of a list as JSON Lines.
func convert(t *testing.T, format, base, text string) (string, from.Report, error) {
	t.Helper()
	var b bytes.Buffer
	out := from.NewOutput("file", &b)
	for _, f := range Formats() {
		if f.Name == format {
			err := f.Convert(t.Context(), &from.Input{Reader: strings.NewReader(text), File: "file", Base: base}, out)
			return b.String(), out.Report(), err
		}
	}
	t.Fatal("no format", format)
	return "", from.Report{}, nil
}

func TestLists(t *testing.T) {
	const base = "https://sho.rt/"
	yourlsRecords := `{"name":"https://sho.rt/aB","status":"active","locations":[{"url":"https://example.org/1"}],"metadata":{"title":["It's"]}}
{"name":"https://sho.rt/x%20y","status":"active","locations":[{"url":"https://example.org/2"}]}
`
	for _, tt := range []struct{ format, base, text, want string }{
		{"yourls", base, "\ufeffkeyword,url,title,timestamp,ip,clicks\naB,https://example.org/1,It's,2026-01-01 00:00:00,192.0.2.1,7\nx y,https://example.org/2,https://example.org/2,,,\n", "\n" + yourlsRecords},
		{
			"yourls", base, "-- MySQL dump\nCREATE TABLE `yourls_url` (`keyword` varchar(100) NOT NULL, `url` text, `title` text, `clicks` int);\n" +
				"INSERT INTO `yourls_url` VALUES\n('aB','https://example.org/1','It\\'s',7),\n('x y','https://example.org/2',NULL,0);\nINSERT INTO `yourls_options` VALUES (1,'a','b');",
			"\n\n\n" + yourlsRecords,
		},
		{"shlink", "", "Short URL;Long URL;Title;Tags\nhttps://s.example/a;https://example.org/;A;b|c\n", "\n" + `{"name":"https://s.example/a","status":"active","locations":[{"url":"https://example.org/"}],"metadata":{"subject":["b","c"],"title":["A"]}}` + "\n"},
		{"shlink", base, "Short code,Long URL,Domain\na,https://example.org/,\nb,https://example.org/,d.example\n", "\n" + `{"name":"https://sho.rt/a","status":"active","locations":[{"url":"https://example.org/"}]}` + "\n" + `{"name":"https://d.example/b","status":"active","locations":[{"url":"https://example.org/"}]}` + "\n"},
		{
			"shlink", "", `{"shortUrls":{"data":[{"shortCode":"a","shortUrl":"https://s.example/a","longUrl":"https://example.org/","tags":["b","c"],"meta":{"validSince":"2026-01-01T01:00:00+01:00","validUntil":null,"maxVisits":null},"domain":null,"title":null,"hasRedirectRules":false,"visitsSummary":{"title":"no"}}],"pagination":{"data":[],"x":[{"y":1}]}}}
{"shortUrls":{"data":[{"shortUrl":"https://s.example/b","longUrl":"https://example.org/b"}]}}`,
			`{"name":"https://s.example/a","status":"active","locations":[{"url":"https://example.org/","valid_from":"2026-01-01T00:00:00Z"}],"metadata":{"subject":["b","c"],"title":["no"]}}` + "\n" + `{"name":"https://s.example/b","status":"active","locations":[{"url":"https://example.org/b"}]}` + "\n",
		},
		{"kutt", base, `{"limit":10,"total":1,"data":[{"id":"x","address":"a","target":"https://example.org/","domain":null,"description":"D","banned":false,"password":false,"expire_in":"2027-01-01T00:00:00.123Z"}]}`, `{"name":"https://sho.rt/a","status":"active","locations":[{"url":"https://example.org/","valid_until":"2027-01-01T00:00:00Z"}],"metadata":{"description":["D"]}}` + "\n"},
		{
			"kutt", base, "COPY public.domains (id, address) FROM stdin;\n4\td.example\n\\.\nCOPY public.links (id, address, target, banned, domain_id, password, expire_in) FROM stdin;\n1\ta\thttps://example.org/\tf\t\\N\t\\N\t2027-01-01 01:00:00+01\n2\tb\thttps://example.org/b\tf\t4\t\\N\t\\N\n\\.\n",
			"\n\n\n\n" + `{"name":"https://sho.rt/a","status":"active","locations":[{"url":"https://example.org/","valid_until":"2027-01-01T00:00:00Z"}]}` + "\n" + `{"name":"https://d.example/b","status":"active","locations":[{"url":"https://example.org/b"}]}` + "\n",
		},
		{
			"arklet", "", "COPY public.ark_ark (ark, naan_id, url, metadata, commitment) FROM stdin;\n12345/x5a\t12345\thttps://example.org/\tM\tC\n12345/x5b\t12345\t\t\t\n\\.\n",
			"\n" + `{"name":"ark:12345/x5a","status":"active","locations":[{"url":"https://example.org/"}],"metadata":{"description":["M"]},"values":[{"index":10001,"type":"arklet:metadata","data":"M"},{"index":10002,"type":"arklet:commitment","data":"C"}]}` + "\n" + `{"name":"ark:12345/x5b","status":"reserved"}` + "\n",
		},
		{"arklet", "", "ark,url\nark:/12345/x5a,https://example.org/\n", "\n" + `{"name":"ark:12345/x5a","status":"active","locations":[{"url":"https://example.org/"}]}` + "\n"},
	} {
		got, report, err := convert(t, tt.format, tt.base, tt.text)
		if err != nil || len(report.Refused) > 0 || got != tt.want {
			t.Errorf("%s: %v, %+v\n got %s\nwant %s", tt.text, err, report, got, tt.want)
		}
	}
}

func TestRefused(t *testing.T) {
	for _, tt := range []struct{ format, text, want string }{
		{"yourls", "keyword,url\na,https://example.org/\n", "a base is needed"},
		{"yourls", "keyword,url\na\n", "the link has no URL"},
		{"yourls", "keyword,url\na,https://example.org/?a,b\n", "the row has 3 cells, and the titles 2"},
		{"kutt", "COPY links (id, address, target, domain_id) FROM stdin;\n1\ta\thttps://example.org/\t7\n\\.\n", `unknown domain "7"`},
		{"shlink", `[{"shortUrl":"nothing","longUrl":"u:1"},{"shortUrl":"https://","longUrl":"u:1"}]`, "host"},
		{"shlink", `[{"shortUrl":"https://s.example/a","longUrl":"u:1","meta":{"maxVisits":5},"hasRedirectRules":true}]`, "imported without the limit of visits, its redirect rules"},
		{"shlink", `[{"shortUrl":"https://s.example/a","longUrl":"u:1","meta":{"validUntil":"soon"}}]`, `invalid time "soon"`},
		{"kutt", `[{"domain":"s.example","address":"a","target":"u:1","banned":true}]`, "the link is banned"},
		{"kutt", `[{"domain":"s.example","address":"a","target":"u:1","password":true}]`, "needs a password"},
		{"arklet", "ark,url\n,u:1\n", "the link has no name"},
	} {
		_, report, err := convert(t, tt.format, "", tt.text)
		if err != nil || len(report.Refused) == 0 || !strings.Contains(report.Refused[len(report.Refused)-1].Reason, tt.want) {
			t.Errorf("%s: got %v, %+v, want %s", tt.text, err, report, tt.want)
		}
	}
}

// TestPlaces checks that messages name the line and column of a link, in JSON too.
func TestPlaces(t *testing.T) {
	for _, tt := range []struct {
		format, text string
		line, column int
	}{
		{"yourls", "keyword,url\na,https://example.org/\nb\n", 3, 1},
		{"yourls", "keyword,url\na,https://example.org/?a,b\n", 2, 26},
		{"kutt", `{"data":[{"domain":"s.example","address":"a","target":"u:1"}, {"address":"b"}]}`, 1, 63},
		{"kutt", "{\"data\": [\n  {\"domain\":\"s.example\",\n   \"address\":\"a\",\"target\":\"u:1\"},\n\n  {\"address\":\"b\"}\n]}", 5, 3},
	} {
		_, report, err := convert(t, tt.format, "https://s.example/", tt.text)
		if err != nil || len(report.Refused) != 1 || report.Refused[0].Line != tt.line || report.Refused[0].Column != tt.column {
			t.Errorf("%q: got %v, %+v, want line %d, column %d", tt.text, err, report.Refused, tt.line, tt.column)
		}
	}
}

func TestErrors(t *testing.T) {
	for _, tt := range []struct{ format, text, want string }{
		{"yourls", " \n", "the file is empty"},
		{"yourls", "-- MySQL dump\n", "no rows of the table yourls_url found"},
		{"yourls", "keyword,url\n\"a", "parse error on line 2"},
		{"yourls", "keyword,url\n\"" + strings.Repeat("x", 2*maxLink), errTooLong.Error()},
		{"kutt", `{"data":[5]}`, "link 1: "},
		{"kutt", `{"limit":1,"total":2,"data":[{"address":"a","target":"https://example.org/","domain":"s.example"}]}`, "the file has 1 of 2 links"},
		{"shlink", `{"shortUrls":{"data":[],"pagination":{"currentPage":1,"totalItems":7}}}`, "the file has 0 of 7 links"},
		{"kutt", `{"data":[{"a":"` + strings.Repeat("x", 2*maxLink), errTooLong.Error()},
		{"kutt", `{"other":` + strings.Repeat("[", 20000), "exceeded max depth"},
	} {
		if _, _, err := convert(t, tt.format, "", tt.text); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%.40s: got %v, want %s", tt.text, err, tt.want)
		}
	}
}

// FuzzConvert checks that any list ends, and that each link is counted once.
func FuzzConvert(f *testing.F) {
	f.Add("keyword,url\na,https://example.org/\n")
	f.Add(`{"shortUrls":{"data":[{"shortUrl":"https://s.example/a","longUrl":"u:1","meta":{"maxVisits":5}}]}}`)
	f.Add("COPY links (address, target) FROM stdin;\na\tu:1\n\\.\n")
	f.Fuzz(func(t *testing.T, text string) {
		for _, format := range Formats() {
			_, report, _ := convert(t, format.Name, "https://s.example/", text)
			if report.Handled+int64(len(report.Refused)) != report.Directives {
				t.Fatalf("%s: %+v", format.Name, report)
			}
		}
	})
}
