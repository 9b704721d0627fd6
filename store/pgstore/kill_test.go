package pgstore

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/store"
	"github.com/nomen-project/nomen/store/pgstore/pgtest"
)

const (
	fewKills    = 5 // number of kills; NOMEN_KILLS can set another
	killWriters = 4

	// The environment variables of the child process of TestKillDatabase.
	killURL   = "PGSTORE_TEST_URL"
	killRound = "PGSTORE_TEST_ROUND"
)

// TestKillDatabase repeatedly kills a process that writes, and every third time the server
// too. It checks that acknowledged changes exist, that batches are complete, and that
// nothing is written twice.
func TestKillDatabase(t *testing.T) {
	if url := os.Getenv(killURL); url != "" {
		writeUntilKilled(t, url, os.Getenv(killRound))
		return
	}
	kills := fewKills
	if n, err := strconv.Atoi(os.Getenv("NOMEN_KILLS")); err == nil {
		kills = n
	}
	server, err := pgtest.Start(pgtest.Options{Fsync: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { stop(t, server) })
	url := newURL(t, server)
	s := open(t, url)
	total := 0
	for round := range kills {
		acked := killOnce(t, server, url, round)
		for w, n := range acked {
			total += n
			checkKilled(t, s, round, w, n)
		}
	}
	if total == 0 {
		t.Error("nothing was ever acknowledged")
	}
	size := uint64(0)
	for r, err := range s.List(t.Context(), store.Scan{}) {
		if err != nil {
			t.Fatal(err)
		}
		size += r.Revision
	}
	checkFeed(t, s, int(size))
	verified(t, s)
	t.Logf("%d kills, %d acknowledged batches, none lost", kills, total)
}

// killOnce runs a process that writes, kills it, and returns the number of acknowledged
// batches of each of its writers.
func killOnce(t *testing.T, server *pgtest.Server, url string, round int) []int {
	t.Helper()
	child := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestKillDatabase$")
	child.Env = append(os.Environ(), killURL+"="+url+"&application_name=killed", killRound+"="+strconv.Itoa(round))
	out, err := child.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	acked := make([]int, killWriters)
	stopAt := 20 + round*37%200
	lines := bufio.NewScanner(out)
	for n := 0; lines.Scan(); n++ {
		var w, batch int
		if _, err := fmt.Sscanf(lines.Text(), "acked %d %d", &w, &batch); err != nil {
			t.Fatalf("the process said %q", lines.Text())
		}
		acked[w] = batch
		if n == stopAt {
			if round%3 == 2 {
				if err := server.Kill(); err != nil {
					t.Error(err)
				}
			}
			if err := child.Process.Kill(); err != nil {
				t.Error(err)
			}
		}
	}
	_ = child.Wait() // it was killed
	if round%3 == 2 {
		if err := server.Restart(); err != nil {
			t.Fatal(err)
		}
	}
	// The server still executes what it received before the client was killed.
	c := connect(t, url)
	eventually(t, "the connections of the killed process end", func() bool {
		var n int
		err := c.QueryRow(t.Context(), "select count(*) from pg_stat_activity where application_name = 'killed'").Scan(&n)
		return err == nil && n == 0
	})
	if err := c.Close(t.Context()); err != nil {
		t.Error(err)
	}
	return acked
}

// killedNames returns the names of one batch: a new one, the writer's, and one shared by
// all writers.
func killedNames(round, w, batch int) []string {
	return []string{
		fmt.Sprintf("urn:x-k:%d:%d:%d", round, w, batch),
		fmt.Sprintf("urn:x-k:%d:%d", round, w),
		"urn:x-k",
	}
}

// writeUntilKilled writes batches and prints which were acknowledged.
func writeUntilKilled(t *testing.T, url, round string) {
	n, err := strconv.Atoi(round)
	if err != nil {
		t.Fatal(err)
	}
	s := open(t, url)
	for w := range killWriters {
		go func() {
			for batch := 1; ; batch++ {
				var changes []store.Change
				for _, key := range killedNames(n, w, batch) {
					changes = append(changes, put(key, fmt.Sprintf("u:%d:%d:%d", n, w, batch), store.AnyRevision))
				}
				if _, err := s.Apply(context.Background(), changes); err != nil {
					return // the server was killed first
				}
				_, _ = os.Stdout.WriteString(fmt.Sprintf("acked %d %d\n", w, batch))
			}
		}()
	}
	time.Sleep(time.Minute) // until the parent kills this process
}

// checkKilled checks what one writer of a killed process has written.
func checkKilled(t *testing.T, s *Store, round, w, acked int) {
	t.Helper()
	batches := 0
	prefix := killedNames(round, w, 0)[1] + ":"
	for r, err := range s.List(t.Context(), store.Scan{Prefix: prefix}) {
		if err != nil {
			t.Fatal(err)
		}
		if n, err := strconv.Atoi(strings.TrimPrefix(r.Name.Key(), prefix)); err != nil || r.Revision != 1 {
			t.Errorf("%s has revision %d", r.Name, r.Revision)
		} else {
			batches = max(batches, n)
		}
	}
	if batches < acked || batches > acked+1 {
		t.Errorf("round %d, writer %d: %d batches are there, %d were acknowledged", round, w, batches, acked)
	}
	own, err := s.Get(t.Context(), name.FromKey(prefix[:len(prefix)-1]), time.Time{})
	switch {
	case batches == 0 && err == nil, batches > 0 && err != nil:
		t.Errorf("round %d, writer %d: half a batch: %v, %v", round, w, own, err)
	case batches > 0 && own.Revision != uint64(batches):
		t.Errorf("round %d, writer %d: revision %d after %d batches", round, w, own.Revision, batches)
	}
}
