package crawl

import (
	"bufio"
	"bytes"
	"context"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/client"
)

// A web holds the responses of authorities.
type web struct {
	mu    sync.Mutex
	says  map[string][]string // by "authority request"
	fails map[string]error    // by authority
	asked []string
	times []time.Time
}

var errSilent = errors.New("no answer")

func (w *web) Query(ctx context.Context, authority, request string) ([]string, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.asked, w.times = append(w.asked, authority+" "+request), append(w.times, time.Now())
	if err := firstErr(ctx.Err(), w.fails[authority]); err != nil {
		return nil, err
	}
	return w.says[authority+" "+request], nil
}

func firstErr(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// family returns a web with a cycle, a child of two parents, and various
// spellings.
func family() *web {
	return &web{says: map[string][]string{
		"a.example urn+c": {"b.example", "urn:dns:C.example", "dns:d.example.", "a.example"},
		"b.example urn+p": {"a.example", "z.example"},
		"b.example urn+c": {"d.example"},
		"c.example urn+p": {"A.EXAMPLE."},
		"d.example urn+c": {"a.example"}, // a cycle
		"z.example urn+c": {"b.example"},
	}}
}

// walk returns the nodes and the error at the end.
func walk(ctx context.Context, a Querier, o Options) (nodes []*Node, err error) {
	if o.Delay == 0 {
		o.Delay = -1
	}
	for n, e := range New(a, o).Walk(ctx, "a.example") {
		if e != nil {
			err = e
			continue
		}
		nodes = append(nodes, n)
	}
	return nodes, err
}

func order(nodes []*Node) string {
	var b strings.Builder
	for _, n := range nodes {
		fmt.Fprintf(&b, "%s/%d ", strings.TrimSuffix(n.Authority, ".example"), n.Depth)
	}
	return strings.TrimSpace(b.String())
}

// Each authority is queried once, however often and in whatever spelling it is
// named.
func TestWalk(t *testing.T) {
	w := family()
	nodes, err := walk(t.Context(), w, Options{})
	if want := "a/0 b/1 c/1 d/1 z/2"; err != nil || order(nodes) != want {
		t.Errorf("Y95-60: got %s, %v; want %s", order(nodes), err, want)
	}
	slices.Sort(w.asked)
	if got := slices.Compact(slices.Clone(w.asked)); len(got) != len(w.asked) || len(w.asked) != 10 {
		t.Errorf("Y95-60: queried %q, want each once", w.asked)
	}
	for _, tt := range []struct {
		o    Options
		want string
	}{
		{Options{NoParents: true}, "a/0 b/1 c/1 d/1"},
		{Options{NoChildren: true}, "a/0"},
		{Options{Parallel: 1}, "a/0 b/1 c/1 d/1 z/2"},
	} {
		if nodes, err := walk(t.Context(), family(), tt.o); err != nil || order(nodes) != tt.want {
			t.Errorf("%+v: got %s, %v; want %s", tt.o, order(nodes), err, tt.want)
		}
	}
	for _, first := range []string{"", "a b", "192.0.2.1", "-a.example", "a.example/x", "urn:isbn:1"} {
		for n, err := range New(w, Options{}).Walk(t.Context(), first) {
			if !errors.Is(err, ErrAuthority) {
				t.Errorf("from %q: %v, %v", first, n, err)
			}
		}
	}
	for range New(family(), Options{Delay: -1}).Walk(t.Context(), "a.example") {
		break // no relation to follow
	}
}

func TestWalkLimits(t *testing.T) {
	var limit *LimitError
	nodes, err := walk(t.Context(), family(), Options{MaxNodes: 3})
	if order(nodes) != "a/0 b/1 c/1" || !errors.As(err, &limit) || limit.What != "authorities" || limit.Left != 2 {
		t.Errorf("3 authorities: %s, %v", order(nodes), err)
	}
	nodes, err = walk(t.Context(), family(), Options{MaxDepth: 1})
	if order(nodes) != "a/0 b/1 c/1 d/1" || !errors.As(err, &limit) || limit.What != "depth" || limit.Left != 1 {
		t.Errorf("depth 1: %s, %v", order(nodes), err)
	}
	nodes, err = walk(t.Context(), family(), Options{MaxDepth: -1})
	if order(nodes) != "a/0" || !errors.As(err, &limit) || limit.Left != 3 {
		t.Errorf("depth 0: %s, %v", order(nodes), err)
	}
	endless := askFunc(func(_ context.Context, authority, request string) ([]string, error) {
		return []string{"x" + authority}, nil // hostile: a new child in each response
	})
	nodes, err = walk(t.Context(), endless, Options{MaxDepth: 1 << 30, MaxBytes: 500})
	if len(nodes) < 5 || len(nodes) > 50 || !errors.As(err, &limit) || limit.What != "bytes" {
		t.Errorf("bytes: %d nodes, %v", len(nodes), err)
	}
	many := askFunc(func(context.Context, string, string) ([]string, error) {
		return slices.Repeat([]string{"not a host"}, maxNames+5), nil
	})
	if nodes, err = walk(t.Context(), many, Options{}); err != nil || len(nodes) != 1 || nodes[0].Skipped != 10 || len(nodes[0].Children) != maxNames {
		t.Errorf("long response: %d nodes, %v", len(nodes), err)
	}
}

type askFunc func(ctx context.Context, authority, request string) ([]string, error)

func (f askFunc) Query(ctx context.Context, authority, request string) ([]string, error) {
	return f(ctx, authority, request)
}

func TestWalkFailures(t *testing.T) {
	w := family()
	w.fails = map[string]error{"b.example": errSilent}
	nodes, err := walk(t.Context(), w, Options{})
	if order(nodes) != "a/0 b/1 c/1 d/1" || err != nil || len(nodes[1].Errors) != 2 || !strings.Contains(nodes[1].Errors[0], "urn+p: no answer") {
		t.Errorf("got %s, %v, %q", order(nodes), err, nodes[1].Errors)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if nodes, err := walk(ctx, family(), Options{}); !errors.Is(err, context.Canceled) || len(nodes) > 0 {
		t.Errorf("cancelled: %v, %v", nodes, err)
	}
}

// Requests to a host are spaced by Delay; requests to different hosts do not
// wait for each other.
func TestDelay(t *testing.T) {
	for _, tt := range []struct {
		hosts func(context.Context, string) []string
		want  time.Duration
	}{
		{nil, 3 * time.Second}, // a, then b c d at once, then z: two requests each
		{func(context.Context, string) []string { return []string{"one"} }, 9 * time.Second},
		{func(_ context.Context, a string) []string { return []string{a, a + "'"} }, 3 * time.Second},
		{func(_ context.Context, a string) []string { return []string{a, "one"} }, 9 * time.Second},
	} {
		synctest.Test(t, func(t *testing.T) {
			w := family()
			start := time.Now()
			if _, err := walk(t.Context(), w, Options{Delay: time.Second, Hosts: tt.hosts}); err != nil {
				t.Fatal(err)
			}
			if took := time.Since(start); took != tt.want {
				t.Errorf("took %v, want %v", took, tt.want)
			}
		})
	}
}

// opener returns a function that opens a state after closing the previous one,
// as only one can be open at a time.
func opener(t *testing.T, path string) func() *State {
	var last *State
	shut := func() {
		if last != nil {
			last.Close()
		}
	}
	t.Cleanup(shut)
	return func() *State {
		t.Helper()
		shut()
		var err error
		if last, err = OpenState(path); err != nil {
			t.Fatal(err)
		}
		return last
	}
}

func TestState(t *testing.T) {
	path := filepath.Join(t.TempDir(), "crawl.jsonl")
	whole, err := walk(t.Context(), family(), Options{})
	if err != nil {
		t.Fatal(err)
	}
	stateOf := opener(t, path)
	if nodes, _ := walk(t.Context(), family(), Options{State: stateOf(), MaxNodes: 2}); order(nodes) != "a/0 b/1" {
		t.Fatalf("begun: %s", order(nodes))
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	// Wherever a crash truncates the file, a walk continues from the complete
	// lines, and gets the same result.
	for cut := 0; cut <= len(text); cut += 23 {
		if err := os.WriteFile(path, text[:cut], 0o600); err != nil {
			t.Fatal(err)
		}
		s := stateOf()
		known := s.Known()
		w := family()
		nodes, err := walk(t.Context(), w, Options{State: s})
		if err != nil || order(nodes) != order(whole) {
			t.Errorf("cut at %d: %s, %v", cut, order(nodes), err)
		}
		if want := 2 * (len(whole) - known); len(w.asked) != want {
			t.Errorf("cut at %d: queried %d times, want %d", cut, len(w.asked), want)
		}
		again := family()
		if nodes, err := walk(t.Context(), again, Options{State: stateOf()}); err != nil || order(nodes) != order(whole) || len(again.asked) > 0 {
			t.Errorf("cut at %d, again: %s, %v, queried %q", cut, order(nodes), err, again.asked)
		}
	}
	var bad *StateError
	one := stateOf()
	if _, err := OpenState(path); !errors.As(err, &bad) {
		t.Errorf("a state that another walk has open: %v", err)
	}
	for n, err := range New(family(), Options{State: one}).Walk(t.Context(), "b.example") {
		if !errors.As(err, &bad) {
			t.Errorf("the state of another walk: %v, %v", n, err)
		}
	}
	one.Close()
	for _, text := range []string{"no crawl\n", "personal notes, in one line without an end", "{\"crawl\" : 1", `{"crawl":3,"first":"a.example"}` + "\n", `{"crawl":1,"first":"a.example"}` + "\n", `{"crawl":2,"first":"A b"}` + "\n", `{"crawl":2,"first":"a.example"}` + "\n{}\n", `{"crawl":2,"first":"a.example"}` + "\n" + `{"authority":"b.example","depth":-1,"asked":"1995-01-01T00:00:00Z"}` + "\n"} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := OpenState(path); !errors.As(err, &bad) || bad.Line == 0 {
			t.Errorf("%q: %v", text, err)
		}
		if left, _ := os.ReadFile(path); string(left) != text {
			t.Errorf("%q was changed to %q", text, left)
		}
	}
}

func TestRetry(t *testing.T) {
	path := filepath.Join(t.TempDir(), "crawl.jsonl")
	for i, tt := range []struct {
		retry bool
		fails bool
		want  string
	}{{false, true, "a/0 b/1 c/1 d/1"}, {false, false, "a/0 b/1 c/1 d/1"}, {true, false, "a/0 b/1 c/1 d/1 z/2"}, {false, true, "a/0 b/1 c/1 d/1 z/2"}} {
		s, err := OpenState(path)
		if err != nil {
			t.Fatal(err)
		}
		w := family()
		if tt.fails {
			w.fails = map[string]error{"b.example": errSilent}
		}
		if nodes, err := walk(t.Context(), w, Options{State: s, Retry: tt.retry}); err != nil || order(nodes) != tt.want {
			t.Errorf("walk %d: %s, %v; want %s", i, order(nodes), err, tt.want)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// A resolver returns responses like that of package client.
type answers func(nomen.Question) ([]string, error)

func (f answers) Resolve(_ context.Context, q nomen.Question) (*nomen.Answer, error) {
	names, err := f(q)
	return &nomen.Answer{Names: names}, err
}

func TestAskerOf(t *testing.T) {
	var asked []string
	a := QuerierOf(answers(func(q nomen.Question) ([]string, error) {
		asked = append(asked, q.Name.Key()+" "+string(q.Service))
		return []string{"b.example"}, nil
	}))
	if got, err := a.Query(t.Context(), "a.example", AskChildren); err != nil || !slices.Equal(got, []string{"b.example"}) {
		t.Errorf("got %q, %v", got, err)
	}
	if want := "urn:dns:a.example:urn+c I2Ns"; len(asked) != 1 || asked[0] != want {
		t.Errorf("queried %q, want %q", asked, want)
	}
	if _, err := a.Query(t.Context(), "a b", AskChildren); err == nil {
		t.Error("no authority: no error")
	}
	silent := QuerierOf(answers(func(nomen.Question) ([]string, error) { return nil, errSilent }))
	if _, err := silent.Query(t.Context(), "a.example", AskParents); !errors.Is(err, errSilent) {
		t.Errorf("got %v", err)
	}
}

func TestAuthority(t *testing.T) {
	for in, want := range map[string]string{
		"a.example": "a.example", "A.Example.": "a.example", "dns:a.example": "a.example", "URN:DNS:a.example": "a.example", "urn:dns:a.example:": "a.example", " a.example ": "a.example",
	} {
		if got, ok := Authority(in); !ok || got != want {
			t.Errorf("Authority(%q) = %q, %v; want %q", in, got, ok, want)
		}
	}
	for _, in := range []string{"", ".", "a..b", "a b", "a:b", "a/b", "urn:isbn", "urn:isbn:1", "192.0.2.1", "a%2eb", "<script>", "a\r\nb", "urn:dns:", "-a.b", "[::1]"} {
		if got, ok := Authority(in); ok {
			t.Errorf("Authority(%q) = %q, want none", in, got)
		}
	}
}

const hostile = "\"]; evil -> \\\"<script>alert('x')</script>&\x1b[31m\u202e" + "\x00\xff"

func drawn(t *testing.T) []*Node {
	w := family()
	w.says["c.example urn+c"] = []string{hostile, strings.Repeat("long", 100)}
	w.fails = map[string]error{"d.example": errSilent}
	nodes, err := walk(t.Context(), w, Options{})
	if err != nil {
		t.Fatal(err)
	}
	return nodes
}

func TestWriteJSON(t *testing.T) {
	var b strings.Builder
	for _, n := range drawn(t)[:2] {
		if err := WriteJSON(&b, n); err != nil {
			t.Fatal(err)
		}
	}
	want := `{"authority":"a.example","relation":"child","name":"b.example"}
{"authority":"a.example","relation":"child","name":"urn:dns:C.example"}
{"authority":"a.example","relation":"child","name":"dns:d.example."}
{"authority":"a.example","relation":"child","name":"a.example"}
{"authority":"b.example","relation":"parent","name":"a.example"}
{"authority":"b.example","relation":"parent","name":"z.example"}
{"authority":"b.example","relation":"child","name":"d.example"}
`
	if b.String() != want {
		t.Errorf("got %s, want %s", b.String(), want)
	}
}

func TestWriteDOT(t *testing.T) {
	var b strings.Builder
	if err := WriteDOT(&b, drawn(t)); err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{
		"\t\"a.example\";\n", "\t\"d.example\" [color=gray, fontcolor=gray];\n",
		"\t\"a.example\" -> \"b.example\";\n", // both state it
		"\t\"a.example\" -> \"d.example\" [style=dashed];\n", "\t\"b.example\" -> \"d.example\" [style=dashed];\n",
		`"\"]; evil -> \\\"<script>`,
	} {
		if !strings.Contains(b.String(), line) {
			t.Errorf("%q is missing in\n%s", line, b.String())
		}
	}
	for _, c := range "\x00\x1b\u202e" {
		if strings.ContainsRune(b.String(), c) {
			t.Errorf("%q is there", c)
		}
	}
	if err := WriteDOT(fullDisk{}, drawn(t)); !errors.Is(err, errSilent) {
		t.Errorf("disk full: %v", err)
	}
}

type fullDisk struct{}

func (fullDisk) Write([]byte) (int, error) { return 0, errSilent }

func TestWriteSVG(t *testing.T) {
	var b bytes.Buffer
	if err := WriteSVG(&b, drawn(t)); err != nil {
		t.Fatal(err)
	}
	var texts []string
	d := xml.NewDecoder(bytes.NewReader(b.Bytes()))
	for {
		token, err := d.Token()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatalf("invalid XML: %v\n%s", err, b.String())
		}
		switch token := token.(type) {
		case xml.StartElement:
			if name := token.Name.Local; !slices.Contains([]string{"svg", "title", "desc", "rect", "path", "text"}, name) {
				t.Errorf("element %q", name)
			}
		case xml.CharData:
			if text := strings.TrimSpace(string(token)); text != "" {
				texts = append(texts, text)
			}
		}
	}
	for _, name := range []string{"a.example", "b.example", "c.example", "d.example", "z.example"} {
		if n := len(slices.DeleteFunc(slices.Clone(texts), func(s string) bool { return s != name })); n != 1 {
			t.Errorf("%s is drawn %d times", name, n)
		}
	}
	if !slices.ContainsFunc(texts, func(s string) bool { return strings.Contains(s, "<script>alert('x')</script>&") }) {
		t.Errorf("the hostile name is not drawn as text: %q", texts)
	}
	if err := WriteSVG(&b, nil); err == nil {
		t.Error("nothing to draw: no error")
	}
}

// Deep and broad trees are drawn without recursion, each leaf in its own row.
func TestWriteSVGDeep(t *testing.T) {
	var nodes []*Node
	for i := range 20_000 {
		nodes = append(nodes, &Node{Authority: fmt.Sprintf("n%d.example", i), Depth: i, Children: []string{fmt.Sprintf("n%d.example", i+1), fmt.Sprintf("leaf%d.example", i)}})
	}
	root, boxes := tree(nodes)
	if rows := layOut(root); rows != 20_001 || len(boxes) != 40_001 {
		t.Errorf("%d rows, %d boxes", rows, len(boxes))
	}
	ys := map[float64]bool{}
	for _, b := range boxes {
		if len(b.children) == 0 {
			if ys[b.y] {
				t.Fatalf("two leaves at %v", b.y)
			}
			ys[b.y] = true
		}
	}
	if err := WriteSVG(io.Discard, nodes); err != nil {
		t.Error(err)
	}
}

func FuzzState(f *testing.F) {
	f.Add([]byte(`{"crawl":2,"first":"a.example"}` + "\n" + `{"authority":"a.example","depth":0,"children":["b"],"asked":"1995-01-01T00:00:00Z"}` + "\n"))
	f.Add([]byte(`{"crawl":2,"first":"a.example"}` + "\n" + `{"autho`))
	f.Fuzz(func(t *testing.T, text []byte) {
		s := &State{}
		whole, err := s.read(bytes.NewReader(text), "x")
		if err != nil {
			return
		}
		if whole > int64(len(text)) || whole > 0 && text[whole-1] != '\n' {
			t.Fatalf("%q: %d bytes are complete", text, whole)
		}
		again := &State{}
		if n, err := again.read(bytes.NewReader(text[:whole]), "x"); err != nil || n != whole || len(again.nodes) != len(s.nodes) {
			t.Errorf("%q: complete lines are read differently: %d, %v", text, n, err)
		}
		if len(s.nodes) > 0 {
			if err := errors.Join(WriteSVG(io.Discard, s.nodes), WriteDOT(io.Discard, s.nodes)); err != nil {
				t.Error(err)
			}
		}
	})
}

// The results for one relation say nothing about the other.
func TestStateRelations(t *testing.T) {
	path := filepath.Join(t.TempDir(), "crawl.jsonl")
	open := opener(t, path)
	if nodes, err := walk(t.Context(), family(), Options{NoParents: true, State: open()}); err != nil || order(nodes) != "a/0 b/1 c/1 d/1" {
		t.Fatalf("begun: %s, %v", order(nodes), err)
	}
	var bad *StateError
	for _, o := range []Options{{}, {NoChildren: true}} {
		o.State = open()
		if nodes, err := walk(t.Context(), family(), o); !errors.As(err, &bad) || len(nodes) > 0 {
			t.Errorf("%+v continues: %s, %v", o, order(nodes), err)
		}
	}
	again := family()
	if nodes, err := walk(t.Context(), again, Options{NoParents: true, State: open()}); err != nil || len(nodes) != 4 || len(again.asked) > 0 {
		t.Errorf("again: %s, %v, queried %q", order(nodes), err, again.asked)
	}
}

// A resolver of 1995 responds with a list of lines, as text/plain or as the
// body alone.
func TestListsOfForeignResolvers(t *testing.T) {
	for _, tt := range []struct {
		reply string
		want  []string
	}{
		{"HTTP/1.0 200 OK\r\nContent-Type: text/plain\r\n\r\nb.example\r\nurn:dns:C.example\r\n", []string{"b.example", "urn:dns:C.example"}},
		{"HTTP/1.0 200 OK\r\nContent-Type: Text/Plain; charset=us-ascii\r\n\r\nb.example\n", []string{"b.example"}},
		{"HTTP/1.0 200 OK\r\nContent-Type: text/plain\r\n\r\n", nil},
		{"HTTP/1.0 200 OK\r\n\r\nb.example\r\n", []string{"b.example"}},
		{"b.example\r\nc.example\r\n", []string{"b.example", "c.example"}},
		{"HTTP/1.0 200 OK\r\nContent-Type: text/uri-list\r\n\r\n# urn:dns:a.example:urn+c\r\nb.example\r\n", []string{"b.example"}},
	} {
		if got, err := askRaw(t, tt.reply); err != nil || !slices.Equal(got, tt.want) {
			t.Errorf("Y95-58, Y95-59: %q: got %q, %v; want %q", tt.reply, got, err, tt.want)
		}
	}
	for _, reply := range []string{
		"HTTP/1.0 200 OK\r\nContent-Type: text/plain\r\n\r\nNo children here.\r\n",
		"HTTP/1.0 200 OK\r\nContent-Type: text/html\r\n\r\n<ul><li>b.example</ul>\r\n",
		"HTTP/1.0 200 OK\r\nContent-Type: image/gif\r\n\r\nGIF89a",
		"HTTP/1.0 404 Not Found\r\nContent-Type: text/plain\r\n\r\nb.example\r\n",
		"HTTP/1.0 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 100\r\n\r\nb.example\r\n",
	} {
		if got, err := askRaw(t, reply); err == nil {
			t.Errorf("%q: got %q, want an error", reply, got)
		}
	}
}

// Valid lines of a list are kept, and invalid ones are reported.
func TestListsWithBadLines(t *testing.T) {
	for _, tt := range []struct {
		body string
		want []string
		bad  ListError
	}{
		{"b.example\r\nnot a name\r\nc.example\r\n", []string{"b.example", "c.example"}, ListError{2, "not a name", 1}},
		{"b.example\n\n<c.example>\nurn:dns:c.example\nd e\n", []string{"b.example", "urn:dns:c.example"}, ListError{2, "<c.example>", 2}},
	} {
		for _, mediaType := range []string{"text/plain", "text/uri-list"} {
			got, err := askRaw(t, "HTTP/1.0 200 OK\r\nContent-Type: "+mediaType+"\r\n\r\n"+tt.body)
			var bad *ListError
			if !errors.As(err, &bad) || *bad != tt.bad || !slices.Equal(got, tt.want) {
				t.Errorf("%s: %q: got %q, %v", mediaType, tt.body, got, err)
			}
		}
	}
	prose := "HTTP/1.0 200 OK\r\nContent-Type: text/plain\r\n\r\nWelcome to\nb.example\nwhere there is\nnothing\n"
	if got, err := askRaw(t, prose); err == nil || got != nil {
		t.Errorf("text for people: got %q, %v", got, err)
	}
}

// askRaw queries a resolver that returns exactly this.
func askRaw(t *testing.T, reply string) ([]string, error) {
	t.Helper()
	s, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	go func() {
		for {
			conn, err := s.Accept()
			if err != nil {
				return
			}
			in := bufio.NewReader(conn)
			for line, err := in.ReadString('\n'); err == nil && strings.TrimSpace(line) != ""; line, err = in.ReadString('\n') {
			}
			_, _ = io.WriteString(conn, reply)
			conn.Close()
		}
	}()
	c, err := client.New(client.Options{Via: s.Addr().String(), Retries: -1})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	return QuerierOf(c).Query(t.Context(), "a.example", AskChildren)
}
