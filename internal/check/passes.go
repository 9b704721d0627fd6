package check

// passes converts the progress of several passes to a number of changes.
type passes struct {
	report  func(done, total uint64) // nil if progress is not reported
	changes uint64
	number  int
	begun   int
	size    uint64 // units of the present pass
	done    uint64 // units that are done
	next    uint64 // units done at the next report
}

const passStep = 10_000

// newPasses returns the progress of a verification with this number of passes. It calls report with
// the progress; report may be nil.
func newPasses(changes uint64, number int, report func(done, total uint64)) *passes {
	return &passes{report: report, changes: changes, number: number}
}

func (p *passes) begin(units uint64) {
	p.begun++
	p.size, p.done, p.next = max(units, 1), 0, passStep
}

func (p *passes) add(units uint64) {
	if p.done += units; p.report == nil || p.done < p.next {
		return
	}
	p.next = p.done + passStep
	part := float64(min(p.done, p.size)) / float64(p.size)
	share := (float64(p.begun-1) + part) / float64(p.number)
	p.report(uint64(share*float64(p.changes)), p.changes)
}

// end reports that everything is done.
func (p *passes) end() {
	if p.report != nil {
		p.report(p.changes, p.changes)
	}
}
