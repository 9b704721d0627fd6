package crawl

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"html"
	"io"
	"strings"

	"github.com/nomen-project/nomen/internal/shown"
)

// WriteJSON writes the relations that a node states, as one [Edge] per line.
func WriteJSON(w io.Writer, n *Node) error {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	for _, edge := range n.Edges() {
		if err := e.Encode(edge); err != nil {
			return err
		}
	}
	_, err := w.Write(shown.JSON(b.Bytes()))
	return err
}

const maxLabel = 80

// label returns a name for display, as a line of visible characters.
func label(s string) string { return shown.Short(s, maxLabel) }

func identity(spelling string) string {
	if a, ok := Authority(spelling); ok {
		return a
	}
	return spelling
}

// A link is an arrow from an authority to an authority that it has authorised.
type link struct{ parent, child string }

func (e Edge) link() link {
	if e.Relation == Parent {
		return link{identity(e.Name), e.Authority}
	}
	return link{e.Authority, identity(e.Name)}
}

func dotQuote(s string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(label(s)) + `"`
}

// WriteDOT writes a graph in the language of Graphviz. Arrows point from an authority to the
// authorities that it has authorised. An arrow is dashed if only one of the two authorities states
// the relation. Authorities that could not be queried are grey.
func WriteDOT(w io.Writer, nodes []*Node) error {
	b := bufio.NewWriter(w)
	fmt.Fprint(b, "digraph authorities {\n\trankdir=LR;\n\tnode [shape=box];\n")
	asked := map[string]bool{}
	said := map[link]map[string]bool{}
	var order []link
	for _, n := range nodes {
		asked[n.Authority] = true
		style := ""
		if len(n.Errors) > 0 {
			style = " [color=gray, fontcolor=gray]"
		}
		fmt.Fprintf(b, "\t%s%s;\n", dotQuote(n.Authority), style)
		for _, e := range n.Edges() {
			l := e.link()
			if said[l] == nil {
				said[l] = map[string]bool{}
				order = append(order, l)
			}
			said[l][n.Authority] = true
		}
	}
	for _, l := range order {
		style := ""
		if asked[l.parent] && asked[l.child] && len(said[l]) == 1 && l.parent != l.child {
			style = " [style=dashed]"
		}
		fmt.Fprintf(b, "\t%s -> %s%s;\n", dotQuote(l.parent), dotQuote(l.child), style)
	}
	fmt.Fprint(b, "}\n")
	return b.Flush()
}

// Dimensions of a drawing in pixels.
const (
	rowHeight   = 22
	columnSpace = 48
	charWidth   = 7
	margin      = 10
)

// A box is an authority in a drawing.
type box struct {
	name     string
	note     string // relation to the authority of the parent box
	failed   bool
	column   int
	children []*box
	y        float64
}

// explanation describes the drawing for blind readers.
const explanation = "Solid lines lead to children, dotted lines to parents. Authorities in italics could not be queried."

// WriteSVG draws the authorities as a tree with the first authority as its root. Each authority
// appears only once, below the authority through which it was found first. Other relations are
// omitted. Solid lines lead to children, and dotted lines to parents. Authorities that could not be
// queried are grey and in italics. The picture has no scripts, hyperlinks or external references.
func WriteSVG(w io.Writer, nodes []*Node) error {
	if len(nodes) == 0 {
		return fmt.Errorf("crawl: nothing to draw")
	}
	root, boxes := tree(nodes)
	widths := columns(boxes)
	left := make([]int, len(widths)+1)
	left[0] = margin
	for i, width := range widths {
		left[i+1] = left[i] + width + columnSpace
	}
	rows := layOut(root)
	b := bufio.NewWriter(w)
	fmt.Fprintf(b, `<svg xmlns="http://www.w3.org/2000/svg" role="img" width="%[1]d" height="%[2]d" viewBox="0 0 %[1]d %[2]d" font-family="sans-serif" font-size="12">`+"\n",
		left[len(widths)]-columnSpace+margin, rows*rowHeight+2*margin)
	fmt.Fprintf(b, "<title>%s</title>\n<desc>%s</desc>\n", html.EscapeString("authorities from "+label(root.name)), explanation)
	fmt.Fprintln(b, `<rect width="100%" height="100%" fill="white"/>`)
	for _, box := range boxes {
		for _, c := range box.children {
			fmt.Fprintf(b, `<path d="M%d %.1fC%d %.1f %d %.1f %d %.1f" fill="none" %s/>`+"\n",
				left[box.column]+widths[box.column], box.y, left[c.column]-columnSpace/2, box.y, left[c.column]-columnSpace/2, c.y, left[c.column]-4, c.y, strokeOf(c.note))
		}
	}
	for _, box := range boxes {
		style := `fill="black"`
		if box.failed {
			style = `fill="#595959" font-style="italic"`
		}
		fmt.Fprintf(b, `<text x="%d" y="%.1f" %s>%s</text>`+"\n", left[box.column], box.y+4, style, html.EscapeString(label(box.name)))
	}
	fmt.Fprint(b, "</svg>\n")
	return b.Flush()
}

func strokeOf(note string) string {
	if note == Parent {
		return `stroke="firebrick" stroke-dasharray="2 3"`
	}
	return `stroke="steelblue"`
}

// tree returns the authorities as a tree, in the order in which they were found.
func tree(nodes []*Node) (*box, []*box) {
	root := &box{name: nodes[0].Authority}
	byName, boxes := map[string]*box{root.name: root}, []*box{root}
	for _, n := range nodes {
		at := byName[n.Authority]
		if at == nil { // the node is from another walk, so its parent is the root
			at = &box{name: n.Authority, column: 1}
			byName[n.Authority], boxes, root.children = at, append(boxes, at), append(root.children, at)
		}
		at.failed = len(n.Errors) > 0
		for _, e := range n.Edges() {
			id := identity(e.Name)
			if byName[id] != nil {
				continue
			}
			c := &box{name: id, note: e.Relation, column: at.column + 1}
			byName[id], boxes, at.children = c, append(boxes, c), append(at.children, c)
		}
	}
	return root, boxes
}

func columns(boxes []*box) (widths []int) {
	for _, b := range boxes {
		for len(widths) <= b.column {
			widths = append(widths, 0)
		}
		widths[b.column] = max(widths[b.column], charWidth*shown.Columns(label(b.name)))
	}
	return widths
}

// layOut assigns rows to the leaves, and centres other boxes on their children. It returns the
// number of rows. It does not use recursion, because the depth of the tree comes from untrusted
// input.
func layOut(root *box) (rows int) {
	type visit struct {
		*box
		next int
	}
	stack := []visit{{root, 0}}
	for len(stack) > 0 {
		top := &stack[len(stack)-1]
		if top.next < len(top.children) {
			top.next++
			stack = append(stack, visit{top.children[top.next-1], 0})
			continue
		}
		if n := len(top.children); n == 0 {
			top.y = float64(margin + rows*rowHeight + rowHeight/2)
			rows++
		} else {
			top.y = (top.children[0].y + top.children[n-1].y) / 2
		}
		stack = stack[:len(stack)-1]
	}
	return rows
}
