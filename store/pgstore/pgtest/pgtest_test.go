package pgtest

import (
	"os"
	"strings"
	"testing"
)

// query returns what psql prints.
func query(t *testing.T, s *Server, sql string) (string, error) {
	t.Helper()
	cmd, err := s.command(t.Context(), "psql", "--no-psqlrc", "--tuples-only", "--no-align", "--dbname="+s.URL(), "--command="+sql)
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.Output()
	return strings.TrimSpace(string(out)), err
}

// TestServer checks that a killed server keeps its data, that its replica has the data in the
// meantime, and that Stop removes the files of both.
func TestServer(t *testing.T) {
	s, err := Start(Options{Dir: world(t), Fsync: true})
	if err != nil {
		t.Fatal(err)
	}
	if got, err := query(t, s, "create table t (n int); insert into t values (7); select n from t"); err != nil || !strings.HasSuffix(got, "7") {
		t.Fatalf("%q, %v", got, err)
	}
	r, err := s.Replica()
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Kill(); err != nil {
		t.Error(err)
	}
	if got, err := query(t, s, "select n from t"); err == nil {
		t.Errorf("a killed server answers %q", got)
	}
	if got, err := query(t, r, "select n from t"); err != nil || got != "7" {
		t.Errorf("the replica of a killed server: %q, %v", got, err)
	}
	if err := s.Restart(); err != nil {
		t.Fatal(err)
	}
	if got, err := query(t, s, "select n from t"); err != nil || got != "7" {
		t.Errorf("after the restart: %q, %v", got, err)
	}
	for _, server := range []*Server{s, r} {
		if err := server.Stop(); err != nil {
			t.Error(err)
		}
		if _, err := os.Stat(server.dir); !os.IsNotExist(err) {
			t.Errorf("%s is still there", server.dir)
		}
	}
}

// world returns a directory that other users can enter.
func world(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "pgtest")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	return dir
}
