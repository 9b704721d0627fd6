package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/adminapi"
	"github.com/nomen-project/nomen/bulk"
	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/registrar"
	"github.com/nomen-project/nomen/store"
)

const (
	fewKills = 5 // unless NOMEN_KILLS says how many
	writers  = 4
)

// TestKill kills a server again and again while writers change names through
// the admin API: what was acknowledged is there after each restart (Y95-22), and
// an export is complete and valid.
func TestKill(t *testing.T) {
	kills := fewKills
	if n, err := strconv.Atoi(os.Getenv("NOMEN_KILLS")); err == nil {
		kills = n
	}
	data := t.TempDir()
	acknowledged := make([]int, writers) // the last number of each writer
	for round := range kills {
		p, err := startServer(data, "--no-access-log")
		if err != nil {
			t.Fatal(err)
		}
		api := adminClient(t, data)
		check(t, api, acknowledged)
		work(p, api, acknowledged, time.Duration(30+round*37%200)*time.Millisecond)
	}
	start(t, data)
	check(t, adminClient(t, data), acknowledged)
	total := 0
	for _, n := range acknowledged {
		total += n
	}
	if total == 0 {
		t.Error("nothing was ever acknowledged")
	}
	t.Logf("%d kills, %d acknowledged writes, none lost", kills, total)
}

func adminClient(t *testing.T, data string) *adminapi.Client {
	t.Helper()
	c := &cli{data: data}
	api, err := c.server(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(filepath.Join(data, tokenFile))
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Fatalf("the token file: %v, %v; want mode 0600", info, err)
	}
	return api
}

// work lets the writers write until the server is killed, after a while.
func work(p *process, api *adminapi.Client, acknowledged []int, while time.Duration) {
	var group sync.WaitGroup
	for w := range acknowledged {
		group.Go(func() {
			for write(api, w, acknowledged[w]+1) == nil {
				acknowledged[w]++
			}
		})
	}
	<-time.After(while)
	_ = p.kill()
	group.Wait()
}

// write creates the numbered name of a writer and changes its first one.
func write(api *adminapi.Client, writer, n int) error {
	reqs := []registrar.Request{request(writer, n, n), request(writer, 0, n)}
	outs, err := api.Apply(context.Background(), reqs, "kill test")
	if err != nil {
		return err
	}
	for _, out := range outs {
		if out.Err != nil {
			return out.Err
		}
	}
	return nil
}

func request(writer, which, n int) registrar.Request {
	spelling := fmt.Sprintf("urn:example:writer-%d:%d", writer, which)
	return registrar.Request{Expected: store.AnyRevision, Record: &store.Record{
		Name: name.MustParse(spelling), Spelling: spelling, Status: nomen.Active,
		Locations: []nomen.Location{{URL: fmt.Sprintf("https://h.example/%d", n)}},
	}}
}

// check compares an export with what was acknowledged.
func check(t *testing.T, api *adminapi.Client, acknowledged []int) {
	t.Helper()
	var out bytes.Buffer
	sum, err := api.Export(t.Context(), &out, bulk.ExportOptions{})
	if err != nil {
		t.Fatal(err)
	}
	urls := map[string]string{}
	for lines := bufio.NewScanner(&out); lines.Scan(); {
		var r store.Record
		if err := json.Unmarshal(lines.Bytes(), &r); err != nil || len(r.Locations) != 1 {
			t.Fatalf("line %q of the export: %v", lines.Text(), err)
		}
		urls[r.Spelling] = r.Locations[0].URL
	}
	if sum.Read != int64(len(urls)) {
		t.Errorf("the export says %d records and has %d", sum.Read, len(urls))
	}
	for w, last := range acknowledged {
		for n := 1; n <= last; n++ {
			if urls[fmt.Sprintf("urn:example:writer-%d:%d", w, n)] != fmt.Sprintf("https://h.example/%d", n) {
				t.Fatalf("write %d of writer %d was acknowledged and is lost", n, w)
			}
		}
		// The last change may have been made without having been acknowledged.
		url := urls[fmt.Sprintf("urn:example:writer-%d:0", w)]
		got, _ := strconv.Atoi(strings.TrimPrefix(url, "https://h.example/"))
		if got != last && got != last+1 {
			t.Fatalf("the changing name of writer %d has change %d, and %d was acknowledged", w, got, last)
		}
		acknowledged[w] = got
	}
}
