package extract

import (
	"archive/tar"
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/nomen-project/nomen/internal/testrun"
)

// rfcTexts returns the texts of RFC 8500 to 8999 by number; ok is false if they are missing.
func rfcTexts(tb testing.TB) (texts map[int][]byte, ok bool) {
	tb.Helper()
	archive, ok := testrun.Beside(tb, "data/text/rfc8500-8999.tar")
	texts = map[int][]byte{}
	for r := tar.NewReader(bytes.NewReader(archive)); ok; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			tb.Fatal(err)
		}
		name, isText := strings.CutSuffix(h.Name, ".txt")
		n, err := strconv.Atoi(strings.TrimPrefix(name, "rfc/rfc"))
		if !isText || err != nil {
			continue
		}
		if texts[n], err = io.ReadAll(r); err != nil {
			tb.Fatal(err)
		}
	}
	return texts, ok
}

// An rfcTarget is an identifier in the text of an RFC, according to its source.
type rfcTarget struct {
	RFC             int
	Inline, Wrapped []string
}

func rfcTargets(tb testing.TB) map[int]rfcTarget {
	tb.Helper()
	targets := map[int]rfcTarget{}
	data, _ := testrun.Corpus(tb, "text/rfc-targets.jsonl")
	for d := json.NewDecoder(bytes.NewReader(data)); ; {
		var t rfcTarget
		if err := d.Decode(&t); errors.Is(err, io.EOF) {
			return targets
		} else if err != nil {
			tb.Fatal(err)
		}
		targets[t.RFC] = t
	}
}

// share formats n as a part of all.
func share(n, all int) string {
	return fmt.Sprintf("%d of %d (%.2f %%)", n, all, 100*float64(n)/float64(all))
}

// TestGroundTruth reports how many of the identifiers in the texts of RFCs are
// found (recall), and how many findings are correct (precision): in texts of our own with the
// same identifiers, and in those of the RFCs if they are there.
func TestGroundTruth(t *testing.T) {
	targets := rfcTargets(t)
	t.Run("composed", func(t *testing.T) { testComposed(t, targets) })
	if texts, ok := rfcTexts(t); ok {
		t.Run("recall", func(t *testing.T) { testRecall(t, texts, targets) })
		t.Run("precision", func(t *testing.T) { testPrecision(t, texts, targets) })
	}
}

// testComposed checks that the recall is as high in texts laid out as RFCs are, and that
// nothing is found that is not there.
func testComposed(t *testing.T, targets map[int]rfcTarget) {
	texts := map[int][]byte{}
	for n, target := range targets {
		texts[n] = compose(target)
		for f := range Bytes(texts[n], Options{}) {
			if !slices.Contains(target.Inline, f.Spelling) && !slices.Contains(target.Wrapped, f.Spelling) {
				t.Errorf("%d: found %s, which is not there", n, f.Spelling)
			}
		}
	}
	testRecall(t, texts, targets)
}

// compose returns a text in the layout of the references of an RFC, with the identifiers
// of a target: lines of at most 72 columns, broken after a slash, a hyphen or another delimiter.
func compose(target rfcTarget) []byte {
	const indent, width = "              ", 72
	var b bytes.Buffer
	b.WriteString("10.  References\n\n")
	for i, u := range slices.Concat(target.Inline, target.Wrapped) {
		fmt.Fprintf(&b, "   [Ref%d]    Editor, A., \"Document number %d of the\n", i, i)
		before := indent + "collection\", Work in Progress, <"
		if i < len(target.Inline) { // on a line of its own
			b.WriteString(before[:len(before)-1] + "\n")
			before = indent + "<"
		}
		line := before + u
		if at := lastBreak(line, width, len(before)+strings.Index(u, ":")+3); i >= len(target.Inline) && at > 0 {
			line = line[:at] + "\n" + indent + line[at:]
		}
		b.WriteString(line + ">, May 2019.\n\n")
	}
	return b.Bytes()
}

// lastBreak returns the last offset, from low on, at which a line can be broken so that it has at
// most width bytes. It returns 0 if no such place exists.
func lastBreak(line string, width, low int) int {
	if len(line) <= low {
		return 0
	}
	at := strings.LastIndexAny(line[low:min(width, len(line)-1)], "/-?&=#")
	if at < 0 {
		return 0
	}
	return low + at + 1
}

func testRecall(t *testing.T, texts map[int][]byte, targets map[int]rfcTarget) {
	var inline, wrapped, inlineHits, wrappedHits, findings int
	for n, want := range targets {
		found := map[string]bool{}
		for f := range Bytes(texts[n], Options{}) {
			found[f.Spelling] = true
			findings++
		}
		count := func(list []string) (hits int) {
			for _, u := range list {
				if found[u] {
					hits++
				} else {
					t.Logf("RFC %d: not found: %s", n, u)
				}
			}
			return hits
		}
		inlineHits += count(want.Inline)
		wrappedHits += count(want.Wrapped)
		inline += len(want.Inline)
		wrapped += len(want.Wrapped)
	}
	t.Logf("%d texts, %d findings; inline: %s, wrapped: %s", len(targets), findings, share(inlineHits, inline), share(wrappedHits, wrapped))
	if 1000*inlineHits < 995*inline {
		t.Errorf("inline: %s, want 99.5 %%", share(inlineHits, inline))
	}
	if 100*wrappedHits < 97*wrapped {
		t.Errorf("wrapped: %s, want 97 %%", share(wrappedHits, wrapped))
	}
}

// sampleSize is how many findings have been reviewed.
const sampleSize = 300

// testPrecision takes a sample of the findings. Each is correct by the ground
// truth, or has been reviewed: testdata/judged.tsv has the number of the RFC,
// the offset, the spelling, and "true" or the class of the false positive.
func testPrecision(t *testing.T, texts map[int][]byte, targets map[int]rfcTarget) {
	judged := readJudged(t)
	var unseen []string
	classes := map[string]int{}
	for _, f := range sample(texts) {
		target := targets[f.rfc]
		class, ok := judged[f.key()]
		switch {
		case slices.Contains(target.Inline, f.Spelling), slices.Contains(target.Wrapped, f.Spelling):
		case !ok:
			b := texts[f.rfc]
			unseen = append(unseen, fmt.Sprintf("%s\t?\t%q", f.key(), b[max(0, f.Start-50):min(int64(len(b)), f.End+50)]))
		case class != "true":
			classes[class]++
		}
	}
	wrong := 0
	for _, class := range slices.Sorted(maps.Keys(classes)) {
		t.Logf("%d false: %s", classes[class], class)
		wrong += classes[class]
	}
	t.Logf("precision: %s", share(sampleSize-wrong, sampleSize))
	if 100*wrong > sampleSize {
		t.Errorf("precision: %s, want 99 %%", share(sampleSize-wrong, sampleSize))
	}
	if len(unseen) > 0 {
		t.Errorf("%d findings of the sample have not been reviewed:\n%s", len(unseen), strings.Join(unseen, "\n"))
	}
}

type rfcFinding struct {
	rfc int
	Finding
}

func (f rfcFinding) key() string { return fmt.Sprintf("%d\t%d\t%s", f.rfc, f.Start, f.Spelling) }

// sample returns the findings with the smallest hashes, so that the sample is
// stable when findings are added or removed.
func sample(texts map[int][]byte) []rfcFinding {
	var all []rfcFinding
	for n, b := range texts {
		for f := range Bytes(b, Options{}) {
			all = append(all, rfcFinding{n, f})
		}
	}
	hash := func(f rfcFinding) uint64 {
		h := fnv.New64a()
		io.WriteString(h, f.key())
		return h.Sum64()
	}
	slices.SortFunc(all, func(a, b rfcFinding) int { return cmp.Compare(hash(a), hash(b)) })
	return all[:sampleSize]
}

func readJudged(t *testing.T) map[string]string {
	data, err := os.ReadFile("testdata/judged.tsv")
	if err != nil {
		t.Fatal(err)
	}
	judged := map[string]string{}
	for lines := bufio.NewScanner(bytes.NewReader(data)); lines.Scan(); {
		if i := strings.LastIndexByte(lines.Text(), '\t'); i >= 0 {
			judged[lines.Text()[:i]] = lines.Text()[i+1:]
		}
	}
	return judged
}
