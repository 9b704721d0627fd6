package pgstore

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"

	"github.com/nomen-project/nomen/internal/quiet"
)

// A database server that is lost and found all the time does not flood the log, neither with lines
// about the server nor with lines about the cluster. The last state is always logged, even if late.
func TestServerFlaps(t *testing.T) {
	var log bytes.Buffer
	cl := &cluster{log: slog.New(slog.NewTextHandler(&log, nil))}
	c, err := parseConfig("postgres://a.example,b.example/names")
	if err != nil {
		t.Fatal(err)
	}
	cl = newCluster(c, cl.log)
	cl.stop() // so that only the test makes checks
	cl.watches.Wait()
	defer cl.close()
	log.Reset()
	for _, s := range cl.servers {
		s.role.Store(int32(unknown))
		s.logged, s.changes, s.told, s.lines = unknown, 0, nil, quiet.Lines{}
	}
	cl.logged, cl.lines = cl.condition(), quiet.Lines{}
	flapping := cl.servers[0]
	cl.set(cl.servers[1], down, errHangs)
	for range 100 {
		cl.set(flapping, primary, nil)
		cl.set(flapping, down, errHangs)
	}
	count := func(text string) int { return strings.Count(log.String(), text) }
	if n := count("server=a.example"); n != quiet.Burst || count("database server found") != n/2 || count("database server lost") != n/2+1 {
		t.Errorf("%d lines about the server:\n%s", n, &log)
	}
	if n := count("the database is unavailable") + count("the database accepts changes again"); n > quiet.Burst || n < quiet.Burst/2 {
		t.Errorf("%d lines about the database:\n%s", n, &log)
	}
	log.Reset()
	cl.set(flapping, primary, nil)
	if log.Len() > 0 {
		t.Errorf("one more line: %s", &log)
	}
	flapping.lines, cl.lines = quiet.Lines{}, quiet.Lines{} // as if a minute had passed
	for range 3 {
		cl.set(flapping, primary, nil) // the next checks
	}
	if count("\n") != 1 || count("database server found") != 1 || count("suppressed=") != 1 { // the last line about the cluster already said that the database accepts changes
		t.Errorf("the last state:\n%s", &log)
	}
	cl.set(flapping, down, errHangs)
	if count("\n") != 3 || count("database server lost") != 1 || count("the database is unavailable") != 1 {
		t.Errorf("one more change:\n%s", &log)
	}
}
