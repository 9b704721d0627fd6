// Command capacity estimates how many machines a name service needs for a given number of names and
// requests. It draws requests from a Zipf distribution, sends them through the cache that nomen
// uses, and multiplies the numbers of hits and misses by their measured costs.
//
//	go run ./scripts/capacity -fit rfc8500-8999.tar.gz
//	go run ./scripts/capacity -names 1e9 -rate 1e5
//
// With -fit it reads the texts of RFCs from a compressed archive. It counts how often they mention
// each other RFC, and prints the exponent of the Zipf distribution that fits these counts.
package main

import (
	"archive/tar"
	"compress/gzip"
	"errors"
	"flag"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"regexp"
	"slices"
	"strconv"

	"github.com/maypok86/otter/v2"
)

func main() {
	var m model
	fit := flag.String("fit", "", "fit the exponent to this archive of RFCs, and do nothing else")
	flag.Float64Var(&m.names, "names", 1e9, "number of names")
	flag.Float64Var(&m.rate, "rate", 1e5, "requests per second")
	flag.Float64Var(&m.draws, "draws", 5e6, "number of requests that each simulated cache gets")
	flag.Float64Var(&m.largest, "largest", 1e6, "size of the largest simulated cache, in names; the hits of larger caches are computed")
	flag.Float64Var(&m.request, "request", 18.5, "CPU time of a node per request, in microseconds")
	flag.Float64Var(&m.miss, "miss", 45, "additional CPU time of a node per cache miss, in microseconds")
	flag.Float64Var(&m.query, "query", 65, "CPU time of a database server per cache miss, in microseconds")
	flag.Float64Var(&m.cores, "cores", 8, "cores per machine; half of them may be busy")
	flag.Float64Var(&m.kept, "kept", 900, "memory per name in the cache, in bytes")
	flag.Parse()
	err := error(nil)
	if *fit != "" {
		err = printFit(*fit)
	} else {
		err = m.print(os.Stdout)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "capacity: "+err.Error())
		os.Exit(1)
	}
}

// A model is a name service and the measured costs of its parts.
type model struct {
	names, rate, draws, largest float64
	request, miss, query, cores float64
	kept                        float64
}

// exponents has three values: one below that of real names, one that fits them, and one above.
var exponents = []float64{0.75, 0.94, 1.05}

func (m *model) print(w io.Writer) error {
	fmt.Fprintln(w, "| names in the cache | memory | exponent | hits, simulated | hits, LRU | hits, best possible | misses a second | nodes | database servers |")
	fmt.Fprintln(w, "| --- | --- | --- | --- | --- | --- | --- | --- | --- |")
	for _, s := range exponents {
		z := newZipf(s, m.names)
		for size := 1e4; size <= min(1e8, m.names/10); size *= 10 {
			lru, simulated := z.lru(size), "-"
			hits := lru
			if size <= m.largest {
				h, err := m.simulate(z, int(size))
				if err != nil {
					return err
				}
				hits, simulated = h, percent(h)
			}
			misses := m.rate * (1 - hits)
			busy := m.cores / 2 * 1e6 // microseconds of work that a machine does in a second, with half of its cores
			nodes := math.Ceil((m.rate*m.request+misses*m.miss)/busy) + 1
			databases := math.Ceil(misses*m.query/busy) + 1
			fmt.Fprintf(w, "| %.0e | %s | %.2f | %s | %s | %s | %.0f | %.0f | %.0f |\n",
				size, bytes(size*m.kept), s, simulated, percent(lru), percent(z.share(size)), misses, nodes, databases)
		}
	}
	return nil
}

func percent(x float64) string { return fmt.Sprintf("%.1f %%", 100*x) }

func bytes(n float64) string {
	if n < 1e9 {
		return fmt.Sprintf("%.0f MB", n/1e6)
	}
	return fmt.Sprintf("%.0f GB", n/1e9)
}

// simulate returns the hit rate of a cache of the given size. It counts only the second half of the
// requests, when the cache is warm.
func (m *model) simulate(z *zipf, size int) (float64, error) {
	cache, err := otter.New(&otter.Options[uint64, struct{}]{MaximumSize: size})
	if err != nil {
		return 0, err
	}
	random := rand.New(rand.NewPCG(1, 2))
	hits, counted := 0, 0
	for i := 0.; i < m.draws; i++ {
		k := uint64(z.draw(random))
		_, hit := cache.GetIfPresent(k)
		if !hit {
			cache.Set(k, struct{}{})
		}
		if i >= m.draws/2 {
			counted++
			if hit {
				hits++
			}
		}
	}
	return float64(hits) / float64(counted), nil
}

// A zipf is a Zipf distribution over n names: the probability of the name of rank k is proportional
// to k to the power of -s. Sums over ranks are approximated by integrals, except for the first
// ranks.
type zipf struct{ s, n, total float64 }

const exact = 1000 // number of ranks that are added one by one

func newZipf(s, n float64) *zipf {
	z := &zipf{s: s, n: n}
	z.total = z.sum(n)
	return z
}

// integral returns the integral of t to the power of -s from 1 to x. The method inverse is its
// inverse. Both are precise even for s near 1.
func (z *zipf) integral(x float64) float64 {
	if z.s == 1 {
		return math.Log(x)
	}
	return math.Expm1((1-z.s)*math.Log(x)) / (1 - z.s)
}

func (z *zipf) inverse(y float64) float64 {
	if z.s == 1 {
		return math.Exp(y)
	}
	return math.Exp(math.Log1p(y*(1-z.s)) / (1 - z.s))
}

// sum returns the total weight of the first ranks.
func (z *zipf) sum(ranks float64) (total float64) {
	for k := 1.; k <= min(ranks, exact); k++ {
		total += math.Pow(k, -z.s)
	}
	if ranks > exact {
		total += z.integral(ranks+.5) - z.integral(exact+.5)
	}
	return total
}

// share returns the share of requests for the first ranks. An ideal cache of that size has this hit
// rate.
func (z *zipf) share(ranks float64) float64 { return z.sum(ranks) / z.total }

// draw draws a rank at random, by rejection-inversion (Hörmann and Derflinger, 1996).
func (z *zipf) draw(r *rand.Rand) float64 {
	low, high := z.integral(1.5)-1, z.integral(z.n+.5)
	for {
		u := high + r.Float64()*(low-high)
		x := z.inverse(u)
		k := min(max(math.Floor(x+.5), 1), z.n)
		if u >= z.integral(k+.5)-math.Pow(k, -z.s) {
			return k
		}
	}
}

// lru returns the hit rate of a cache that evicts the least recently used name. It uses the
// approximation of Che: a name is in the cache if it was requested within the time t, and in a time
// t as many different names are requested as the cache holds.
func (z *zipf) lru(size float64) float64 {
	low, high := 0., z.total*1e18
	for range 200 {
		t := (low + high) / 2
		if z.over(func(p float64) float64 { return 1 - math.Exp(-p*t) }) < size {
			low = t
		} else {
			high = t
		}
		if high/max(low, 1) < 1+1e-9 {
			break
		}
	}
	return z.over(func(p float64) float64 { return p * (1 - math.Exp(-p*low)) })
}

// over returns the sum of f(p) over all ranks, where p is the probability of a rank. It adds the
// first ranks one by one. Then its steps are a thousandth of the rank.
func (z *zipf) over(f func(p float64) float64) (sum float64) {
	for k := 1.; k <= z.n; {
		step := max(1, math.Floor(k/exact))
		step = min(step, z.n-k+1)
		sum += step * f(math.Pow(k+(step-1)/2, -z.s)/z.total)
		k += step
	}
	return sum
}

var mention = regexp.MustCompile(`RFC[ \n]{0,4}(\d{1,4})\b`)

// printFit prints the exponent that best explains how often the texts in a file mention each RFC
// (maximum likelihood).
func printFit(file string) error {
	counts, texts, err := mentions(file)
	if err != nil {
		return err
	}
	ranked := slices.Sorted(func(yield func(float64) bool) {
		for _, n := range counts {
			if !yield(-n) {
				return
			}
		}
	})
	const names = 9154 // number of RFCs when the archive was made
	best, likeliest, total := 0., math.Inf(-1), 0.
	for s := .5; s < 1.5; s += .01 {
		z, likelihood := newZipf(s, names), 0.
		total = 0
		for i, n := range ranked {
			likelihood += -n * (-s*math.Log(float64(i+1)) - math.Log(z.total))
			total -= n
		}
		if likelihood > likeliest {
			best, likeliest = s, likelihood
		}
	}
	fmt.Printf("%d texts mention %d RFCs %.0f times, each counted once a text: exponent %.2f\n", texts, len(counts), total, best)
	return nil
}

// mentions returns how many texts mention each RFC, apart from its own, and the number of texts.
func mentions(file string) (counts map[int]float64, texts int, err error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, 0, err
	}
	defer f.Close()
	unpacked, err := gzip.NewReader(f)
	if err != nil {
		return nil, 0, err
	}
	counts = map[int]float64{}
	for archive := tar.NewReader(unpacked); ; {
		head, err := archive.Next()
		if errors.Is(err, io.EOF) {
			return counts, texts, nil
		}
		if err != nil {
			return nil, 0, err
		}
		if head.Typeflag != tar.TypeReg {
			continue
		}
		b, err := io.ReadAll(archive)
		if err != nil {
			return nil, 0, err
		}
		texts++
		var own int
		_, _ = fmt.Sscanf(head.FileInfo().Name(), "rfc%d", &own) // own stays 0 if the file is not named like an RFC
		seen := map[int]bool{own: true}
		for _, m := range mention.FindAllSubmatch(b, -1) {
			n, err := strconv.Atoi(string(m[1]))
			if err == nil && n > 0 && !seen[n] {
				seen[n] = true
				counts[n]++
			}
		}
	}
}
