package crawl

import (
	"bytes"
	"cmp"
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
	"github.com/nomen-project/nomen/internal/shown"
	"github.com/nomen-project/nomen/name"
)

// The reserved requests for the parents and the children of an authority (draft of 1995, sections
// 3.5.3 and 3.5.4).
const (
	AskParents  = "urn+p"
	AskChildren = "urn+c"
)

// The relations that an authority can state about another authority.
const (
	Parent = "parent"
	Child  = "child"
)

// A Querier sends reserved requests to the resolvers of authorities. It returns the names of
// authorities in the response, as the response spells them. If a part of the response is invalid,
// it returns the valid names and an error. It is safe for concurrent use.
type Querier interface {
	Query(ctx context.Context, authority, request string) ([]string, error)
}

// QuerierOf returns a Querier that sends its requests through r, such as a client of package
// client.
func QuerierOf(r nomen.Resolver) Querier { return querier{r} }

type querier struct{ resolver nomen.Resolver }

func (a querier) Query(ctx context.Context, authority, request string) ([]string, error) {
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

// A ListError means that a list of names has invalid lines. The names on all other lines are
// returned with the error.
type ListError struct {
	Line  int    // number of the first invalid line, from 1, without empty lines
	Text  string // the first invalid line
	Lines int    // number of invalid lines
}

func (e *ListError) Error() string {
	s := fmt.Sprintf("line %d of the list is not a name: %.80q", e.Line, e.Text)
	if e.Lines > 1 {
		s += fmt.Sprintf("; %d more invalid lines", e.Lines-1)
	}
	return s
}

// listOf parses a response in an unknown format as a list with one name per line (draft of 1995,
// sections 3.5.3 and 3.5.4). If some lines have markup or text instead of a name, it returns a
// [*ListError] in bad. In this case, at least half of the lines must be authorities, and all other
// lines must have markup or text. Otherwise the response is not a list, and listOf returns false.
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
		case err == nil && line[0] == '#' && mediaType == format.TypeURIList: // a comment
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

// Options configure a [Walker]. By default, a Walker queries both the parents and the children of
// an authority.
type Options struct {
	NoParents, NoChildren bool

	Delay    time.Duration // between two requests to an address; 0 means DefaultDelay, negative none
	MaxDepth int           // steps from the first authority; 0 means DefaultMaxDepth, negative none
	MaxNodes int           // number of authorities; 0 means DefaultMaxNodes
	MaxBytes int64         // total size of the responses; 0 means DefaultMaxBytes
	Parallel int           // authorities queried at the same time; 0 means DefaultParallel

	// Hosts returns the addresses of an authority's resolver. Equal addresses must be equal
	// strings, because requests to the same address are at least Delay apart. If Hosts is nil, the
	// name of the authority is used as its address. Hosts must be safe for concurrent use.
	Hosts func(ctx context.Context, authority string) []string

	Retry bool             // query again the authorities whose queries have failed according to State
	State *State           // earlier results, to which new results are added; may be nil
	Now   func() time.Time // nil means [time.Now]
}

// A Node has the results of a walk for an authority.
type Node struct {
	Authority string    `json:"authority"`          // in lower case, without a dot at its end
	Depth     int       `json:"depth"`              // steps from the first authority
	Parents   []string  `json:"parents,omitempty"`  // as the authority spells them
	Children  []string  `json:"children,omitempty"` // as the authority spells them
	Errors    []string  `json:"errors,omitempty"`   // for people
	Skipped   int       `json:"skipped,omitempty"`  // number of names that were ignored because the response had too many
	Asked     time.Time `json:"asked"`              // when the authority was queried
}

// An Edge is a relation between two authorities, which one of them states.
type Edge struct {
	Authority string `json:"authority"`
	Relation  string `json:"relation"` // Parent or Child
	Name      string `json:"name"`     // as it is spelled
}

// Edges returns the relations that a node states, parents first.
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

// Authority returns the host name of an authority in lower case. A resolver may spell the authority
// as "HOST", "dns:HOST" or "urn:dns:HOST", in upper or lower case, and with a dot at the end.
// Authority returns false if HOST is not a fully qualified domain name.
func Authority(spelling string) (string, bool) {
	s := strings.ToLower(strings.TrimSpace(spelling))
	s = strings.TrimPrefix(strings.TrimPrefix(s, "urn:dns:"), "dns:")
	s = strings.TrimSuffix(strings.TrimSuffix(s, ":"), ".")
	if _, err := name.ParsePrefix("urn:dns:" + s); err != nil || strings.ContainsAny(s, ":/%") {
		return "", false
	}
	return s, true
}

// ErrAuthority means that an authority cannot be queried, because it is not a domain name.
var ErrAuthority = errors.New("not a fully qualified domain name")

const maxNames = 100_000

// A Walker follows the relations between authorities.
type Walker struct {
	querier Querier
	o       Options

	mu   sync.Mutex
	next map[string]time.Time // when the next request to an address may be sent
}

// New returns a Walker that queries resolvers through q.
func New(q Querier, o Options) *Walker {
	o.Delay = cmp.Or(o.Delay, DefaultDelay)
	o.MaxDepth = cmp.Or(o.MaxDepth, DefaultMaxDepth)
	o.MaxNodes = cmp.Or(o.MaxNodes, DefaultMaxNodes)
	o.MaxBytes = cmp.Or(o.MaxBytes, DefaultMaxBytes)
	o.Parallel = cmp.Or(o.Parallel, DefaultParallel)
	if o.Hosts == nil {
		o.Hosts = func(_ context.Context, authority string) []string { return []string{authority} }
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	return &Walker{querier: q, o: o, next: map[string]time.Time{}}
}

// A LimitError means that a walk ended early because of a limit.
type LimitError struct {
	What  string // "depth", "authorities" or "bytes"
	Limit int64
	Left  int // number of authorities that were not queried
}

func (e *LimitError) Error() string {
	return fmt.Sprintf("crawl: stopped at the limit of %d (%s); %d authorities that were named have not been queried", e.Limit, e.What, e.Left)
}

// Walk returns an iterator over the authorities that can be reached from the authority first, in
// breadth-first order. It does not query authorities in the State again. An authority that cannot
// be queried is a node with errors. If the walk ends early, the iterator finally yields nil and an
// error. This is a [*LimitError], the error of ctx or of the State, or an error that wraps
// [ErrAuthority].
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

// A journey has the state of a call of [Walker.Walk].
type journey struct {
	*Walker
	yield   func(*Node, error) bool
	over    bool // the caller has stopped
	known   map[string]*Node
	depth   map[string]int // steps to every authority that was named
	waiting []string       // authorities to query, in order
	deeper  int            // number of authorities beyond MaxDepth
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

// visitAll queries several authorities concurrently. A node in the result is nil if ctx ended
// before the query.
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

// take stores a node, and adds the parents and children of the authority to the queue.
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

// size returns the approximate size of the responses in bytes.
func (n *Node) size() (size int64) {
	for _, e := range n.Edges() {
		size += int64(len(e.Name)) + 2
	}
	return size
}

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
		names, err := w.querier.Query(ctx, authority, q.request)
		switch {
		case ctx.Err() != nil:
			return nil
		case err != nil:
			n.Errors = append(n.Errors, q.request+": "+strings.TrimPrefix(shown.Error(err), "client: "))
		}
		*q.names = names[:min(len(names), maxNames)]
		n.Skipped += len(names) - len(*q.names)
	}
	n.Asked = w.o.Now().UTC()
	return n
}

// wait waits until the delay after the last requests to the hosts has passed. It returns false if
// ctx ends first.
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
