package crawl

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"iter"
	"strings"
	"sync"
	"time"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/client"
	"github.com/nomen-project/nomen/format"
	"github.com/nomen-project/nomen/name"
)

// The reserved requests that are asked (1995, 3.5.3 and 3.5.4).
const (
	AskParents  = "urn+p"
	AskChildren = "urn+c"
)

// The relations of an authority to one that it names.
const (
	Parent = "parent"
	Child  = "child"
)

// An Asker asks the resolver of an authority one reserved request, and returns
// the authorities that it names, as they are spelled there; beside an error those
// that could be read all the same. It is safe for concurrent use.
type Asker interface {
	Ask(ctx context.Context, authority, request string) ([]string, error)
}

// AskerOf returns an Asker over a resolver, such as package client has.
func AskerOf(r nomen.Resolver) Asker { return asker{r} }

type asker struct{ resolver nomen.Resolver }

func (a asker) Ask(ctx context.Context, authority, request string) ([]string, error) {
	n, err := name.Parse("urn:dns:" + authority + ":" + request)
	if err != nil {
		return nil, fmt.Errorf("crawl: %w", err)
	}
	answer, err := a.resolver.Resolve(ctx, nomen.Question{Name: n, Service: nomen.I2Ns})
	var unread *client.FormatError
	if errors.As(err, &unread) {
		if names, bad, ok := listOf(unread); ok {
			return names, bad
		}
	}
	if err != nil {
		return nil, err
	}
	return answer.Names, nil
}

// A ListError tells of lines in a list of names that are none; the others were
// read.
type ListError struct {
	Line  int    // the first of them, from 1, empty ones not counted
	Text  string // what it says
	Lines int    // how many they are
}

func (e *ListError) Error() string {
	s := fmt.Sprintf("line %d of the list is no name: %.80q", e.Line, e.Text)
	if e.Lines > 1 {
		s += fmt.Sprintf("; nor are %d others", e.Lines-1)
	}
	return s
}

// listOf reads what is no format of answers as the protocol of 1995 has it: names,
// a line each (3.5.3 and 3.5.4). Lines with markup or words for people are told in
// a [*ListError]. It is false for what is no such list: it has more of those than
// of authorities.
func listOf(e *client.FormatError) (names []string, bad error, ok bool) {
	mediaType, _, _ := strings.Cut(strings.ToLower(e.Type), ";")
	mediaType = strings.TrimSpace(mediaType)
	if mediaType != "" && !strings.HasPrefix(mediaType, "text/") {
		return nil, nil, false
	}
	count, authorities := 0, 0
	var no *ListError
	for line, err := range format.ReadList(bytes.NewReader(e.Body)) {
		count++
		switch {
		case err == nil && line[0] == '#' && mediaType == format.TypeURIList: // a remark
		case err != nil:
			return nil, nil, false
		case strings.ContainsAny(line, " \t<>\x00"):
			if no == nil {
				no = &ListError{Line: count, Text: line}
			}
			no.Lines++
		default:
			if host, ok := Authority(line); ok && strings.Contains(host, ".") {
				authorities++
			}
			names = append(names, line)
		}
	}
	switch {
	case no == nil:
		return names, nil, true
	case authorities < no.Lines || authorities < len(names):
		return nil, nil, false
	}
	return names, no, true
}

// The defaults of [Options].
const (
	DefaultDelay    = time.Second
	DefaultMaxDepth = 16
	DefaultMaxNodes = 10_000
	DefaultMaxBytes = 64 << 20
	DefaultParallel = 4
)

// Options configure a [Walker]. The zero value walks to parents and children.
type Options struct {
	NoParents, NoChildren bool

	Delay    time.Duration // between two requests to an address; 0 for DefaultDelay, negative for none
	MaxDepth int           // steps from the first authority; 0 for DefaultMaxDepth, negative: only the first
	MaxNodes int           // authorities asked; 0 for DefaultMaxNodes
	MaxBytes int64         // of all answers; 0 for DefaultMaxBytes
	Parallel int           // authorities asked at a time; 0 for DefaultParallel

	// Hosts tells at which addresses an authority is asked, in any spelling, so
	// that those that have one in common wait for each other; nil: each has one of
	// its own. It is safe for concurrent use.
	Hosts func(ctx context.Context, authority string) []string

	Retry bool             // ask those again that the state knows as having failed
	State *State           // what is known already, and where to keep more; nil for none
	Now   func() time.Time // nil for [time.Now]
}

// A Node is an authority and what its resolver has said.
type Node struct {
	Authority string    `json:"authority"`          // in lower case, without a dot at the end
	Depth     int       `json:"depth"`              // steps from the first
	Parents   []string  `json:"parents,omitempty"`  // as it spells them
	Children  []string  `json:"children,omitempty"` // as it spells them
	Errors    []string  `json:"errors,omitempty"`   // what went wrong, in words
	Skipped   int       `json:"skipped,omitempty"`  // names that were too many
	Asked     time.Time `json:"asked"`              // when
}

// An Edge is what one authority says about another.
type Edge struct {
	Authority string `json:"authority"`
	Relation  string `json:"relation"` // Parent or Child
	Name      string `json:"name"`     // as spelled
}

// Edges returns what a node says, its parents first.
func (n *Node) Edges() []Edge {
	edges := make([]Edge, 0, len(n.Parents)+len(n.Children))
	for _, p := range n.Parents {
		edges = append(edges, Edge{n.Authority, Parent, p})
	}
	for _, c := range n.Children {
		edges = append(edges, Edge{n.Authority, Child, c})
	}
	return edges
}

// Authority reads how a resolver spells an authority, "HOST", "dns:HOST" or
// "urn:dns:HOST", in any case and perhaps with a dot at the end, and returns the
// host in lower case. It is false for what is no fully qualified domain name.
func Authority(spelling string) (string, bool) {
	s := strings.ToLower(strings.TrimSpace(spelling))
	s = strings.TrimPrefix(strings.TrimPrefix(s, "urn:dns:"), "dns:")
	s = strings.TrimSuffix(strings.TrimSuffix(s, ":"), ".")
	if _, err := name.ParsePrefix("urn:dns:" + s); err != nil || strings.ContainsAny(s, ":/%") {
		return "", false
	}
	return s, true
}

// ErrAuthority is the error of what is no authority that can be asked.
var ErrAuthority = errors.New("not a fully qualified domain name")

// maxNames bounds how many names of one answer are kept.
const maxNames = 100_000

// A Walker walks from authority to authority.
type Walker struct {
	ask Asker
	o   Options

	mu   sync.Mutex
	next map[string]time.Time // when an address may be asked again
}

// New returns a walker that asks by ask.
func New(ask Asker, o Options) *Walker {
	setDefault(&o.Delay, DefaultDelay)
	setDefault(&o.MaxDepth, DefaultMaxDepth)
	setDefault(&o.MaxNodes, DefaultMaxNodes)
	setDefault(&o.MaxBytes, DefaultMaxBytes)
	setDefault(&o.Parallel, DefaultParallel)
	if o.Hosts == nil {
		o.Hosts = func(_ context.Context, authority string) []string { return []string{authority} }
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	return &Walker{ask: ask, o: o, next: map[string]time.Time{}}
}

func setDefault[T comparable](v *T, otherwise T) {
	var zero T
	if *v == zero {
		*v = otherwise
	}
}

// A LimitError tells that a walk ended at a limit, and that there was more.
type LimitError struct {
	What  string // "depth", "authorities", "bytes"
	Limit int64
	Left  int // authorities that were named and not asked
}

func (e *LimitError) Error() string {
	return fmt.Sprintf("crawl: ended at the limit of %d (%s); %d authorities that were named have not been asked", e.Limit, e.What, e.Left)
}

// Walk yields the authorities in the order in which they are found, breadth
// first: those first that the state knows already. An authority that cannot be
// asked is a node with errors. The last pair may be nil and an error: a
// [*LimitError], that of ctx or of the state, or one that wraps [ErrAuthority].
func (w *Walker) Walk(ctx context.Context, first string) iter.Seq2[*Node, error] {
	return func(yield func(*Node, error) bool) {
		root, ok := Authority(first)
		if !ok {
			yield(nil, fmt.Errorf("crawl: %q: %w", first, ErrAuthority))
			return
		}
		j := &journey{Walker: w, yield: yield, known: map[string]*Node{}, depth: map[string]int{root: 0}, waiting: []string{root}}
		if err := w.o.State.begin(root, w.o, j.known); err != nil {
			yield(nil, err)
			return
		}
		if err := j.walk(ctx); err != nil && !j.over {
			yield(nil, err)
		}
	}
}

// A journey is one walk.
type journey struct {
	*Walker
	yield   func(*Node, error) bool
	over    bool // nobody listens any more
	known   map[string]*Node
	depth   map[string]int // of all that were named: the guard against cycles
	waiting []string       // in order
	deeper  int            // named beyond the limit of depth
	count   int
	bytes   int64
}

func (j *journey) walk(ctx context.Context) error {
	for len(j.waiting) > 0 {
		if j.count >= j.o.MaxNodes {
			return &LimitError{"authorities", int64(j.o.MaxNodes), len(j.waiting) + j.deeper}
		}
		if j.bytes > j.o.MaxBytes {
			return &LimitError{"bytes", j.o.MaxBytes, len(j.waiting) + j.deeper}
		}
		batch := j.waiting[:min(len(j.waiting), j.o.Parallel, j.o.MaxNodes-j.count)]
		nodes := j.visitAll(ctx, batch)
		for _, n := range nodes {
			if n == nil {
				return context.Cause(ctx)
			}
			if err := j.take(n); err != nil || j.over {
				return err
			}
		}
	}
	if j.deeper > 0 {
		return &LimitError{"depth", int64(max(j.o.MaxDepth, 0)), j.deeper}
	}
	return nil
}

// visitAll asks several authorities at a time. What was not asked to the end,
// because ctx ended, is nil.
func (j *journey) visitAll(ctx context.Context, batch []string) []*Node {
	nodes := make([]*Node, len(batch))
	var group sync.WaitGroup
	for i, authority := range batch {
		if n := j.known[authority]; n != nil {
			nodes[i] = n
			continue
		}
		depth := j.depth[authority]
		group.Go(func() { nodes[i] = j.visit(ctx, authority, depth) })
	}
	group.Wait()
	return nodes
}

// take keeps a node and what it leads to.
func (j *journey) take(n *Node) error {
	j.waiting = j.waiting[1:]
	j.count++
	j.bytes += n.size()
	if j.known[n.Authority] == nil {
		j.known[n.Authority] = n
		if err := j.o.State.add(n); err != nil {
			return err
		}
	}
	n.Depth = j.depth[n.Authority]
	for _, e := range n.Edges() {
		to, ok := Authority(e.Name)
		if _, named := j.depth[to]; !ok || named || e.Relation == Parent && j.o.NoParents || e.Relation == Child && j.o.NoChildren {
			continue
		}
		j.depth[to] = n.Depth + 1
		if n.Depth >= max(j.o.MaxDepth, 0) {
			j.deeper++
			continue
		}
		j.waiting = append(j.waiting, to)
	}
	j.over = !j.yield(n, nil)
	return nil
}

// size returns about how many bytes the answers had.
func (n *Node) size() (size int64) {
	for _, e := range n.Edges() {
		size += int64(len(e.Name)) + 2
	}
	return size
}

// visit asks one authority what there is to ask; nil if ctx has ended.
func (w *Walker) visit(ctx context.Context, authority string, depth int) *Node {
	n := &Node{Authority: authority, Depth: depth}
	var hosts []string
	if w.o.Delay >= 0 {
		hosts = w.o.Hosts(ctx, authority)
	}
	for _, q := range [...]struct {
		off     bool
		request string
		names   *[]string
	}{{w.o.NoParents, AskParents, &n.Parents}, {w.o.NoChildren, AskChildren, &n.Children}} {
		if q.off {
			continue
		}
		if !w.wait(ctx, hosts) {
			return nil
		}
		names, err := w.ask.Ask(ctx, authority, q.request)
		switch {
		case ctx.Err() != nil:
			return nil
		case err != nil:
			n.Errors = append(n.Errors, q.request+": "+err.Error())
		}
		*q.names = names[:min(len(names), maxNames)]
		n.Skipped += len(names) - len(*q.names)
	}
	n.Asked = w.o.Now().UTC()
	return n
}

// wait waits until all of these hosts may be asked; false if ctx ends before.
func (w *Walker) wait(ctx context.Context, hosts []string) bool {
	if w.o.Delay < 0 {
		return ctx.Err() == nil
	}
	now := time.Now()
	at := now
	w.mu.Lock()
	for _, host := range hosts {
		if next := w.next[host]; next.After(at) {
			at = next
		}
	}
	for _, host := range hosts {
		w.next[host] = at.Add(w.o.Delay)
	}
	w.mu.Unlock()
	t := time.NewTimer(at.Sub(now))
	defer t.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-t.C:
		return ctx.Err() == nil
	}
}
