// Package pgtest starts PostgreSQL servers for tests. It uses the PostgreSQL programs that are
// installed on the machine. Each server listens on a free port of the loopback interface, and has a
// temporary directory for its data, which is removed when the test ends.
//
// PostgreSQL must not run as root. If the test runs as root, the server runs as the user "postgres"
// or "nobody". If the machine has a suitable locale, the server sorts text by the rules of a
// language. A store that needs byte order and does not request it thus fails its tests.
//
// Creating the files of a server with initdb takes longer than a short test. So initdb runs only
// for the first server. The files are kept in the user's cache directory, and copied for later
// servers. The cache takes 40 MB for each version of PostgreSQL. Because of the copies, all servers
// have the same system identifier.
package pgtest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// Options determine what kind of server is started.
type Options struct {
	Dir      string   // for temporary files, which Stop removes; the system's directory if empty
	Fsync    bool     // commits wait for the disk
	Settings []string // such as "max_connections=10"
}

// A Server is a running PostgreSQL. It is made by [Start].
type Server struct {
	dir     string // contains data and log
	port    int
	owner   *owner // nil if the server runs as the user of the test
	options Options
	process *exec.Cmd
	ended   chan struct{} // closed when process has ended
}

// patience is the maximum time for starting or stopping a server.
const patience = 2 * time.Minute

// Start starts a new, empty server. The caller must stop it.
func Start(o Options) (*Server, error) {
	s, err := newServer(o)
	if err != nil {
		return nil, err
	}
	if err := s.initialize(); err != nil {
		return nil, errors.Join(err, os.RemoveAll(s.dir))
	}
	return s.begin()
}

func newServer(o Options) (*Server, error) {
	user, err := unprivileged()
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp(o.Dir, "pgtest")
	if err == nil && user != nil {
		err = os.Chown(dir, int(user.Uid), int(user.Gid))
	}
	return &Server{options: o, owner: user, dir: dir}, err
}

// Replica starts a streaming replica of s.
func (s *Server) Replica() (*Server, error) {
	r, err := newServer(s.options)
	if err != nil {
		return nil, err
	}
	err = r.run("pg_basebackup", "--pgdata="+r.data(), "--host=127.0.0.1", "--port="+strconv.Itoa(s.port),
		"--username=nomen", "--write-recovery-conf", "--wal-method=stream", "--checkpoint=fast", "--no-sync")
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(r.dir))
	}
	return r.begin()
}

// begin starts a server in a new directory. If the server does not start, begin removes the
// directory.
func (s *Server) begin() (*Server, error) {
	err := s.Restart()
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(s.dir))
	}
	return s, nil
}

// Addr returns host and port.
func (s *Server) Addr() string { return net.JoinHostPort("127.0.0.1", strconv.Itoa(s.port)) }

// URL returns the connection string of the server's database.
func (s *Server) URL() string {
	return "postgres://nomen@" + s.Addr() + "/postgres?sslmode=disable"
}

// Log returns what the server has logged.
func (s *Server) Log() string {
	text, _ := os.ReadFile(s.logFile()) // it may not exist yet
	return string(text)
}

func (s *Server) data() string    { return filepath.Join(s.dir, "data") }
func (s *Server) logFile() string { return filepath.Join(s.dir, "log") }

// Restart starts the server again after Kill, on the same port.
func (s *Server) Restart() error {
	fresh := s.port == 0
	for end := time.Now().Add(patience); ; time.Sleep(100 * time.Millisecond) {
		var err error
		if fresh { // another process may take the port first
			if s.port, err = freePort(); err != nil {
				return err
			}
		}
		// Processes of a killed server keep its shared memory for a moment.
		if err = s.start(); err == nil || time.Now().After(end) {
			return err
		}
	}
}

func (s *Server) start() error {
	log, err := os.OpenFile(s.logFile(), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer log.Close()
	settings := []string{
		"listen_addresses=127.0.0.1", "port=" + strconv.Itoa(s.port), "unix_socket_directories=",
		"shared_buffers=128MB", "max_wal_size=4GB", "wal_level=replica", "max_wal_senders=8", "hot_standby=on",
		"wal_keep_size=256MB", "max_connections=200", "log_min_messages=warning", "jit=off",
	}
	if !s.options.Fsync {
		settings = append(settings, "fsync=off", "full_page_writes=off")
	}
	args := []string{"-D", s.data()}
	for _, setting := range append(settings, s.options.Settings...) {
		args = append(args, "-c", setting)
	}
	s.process, err = s.command(context.Background(), "postgres", args...)
	if err != nil {
		return err
	}
	s.process.Stdout, s.process.Stderr = log, log
	if err := s.process.Start(); err != nil {
		return err
	}
	ended, process := make(chan struct{}), s.process
	s.ended = ended
	go func() {
		defer close(ended)
		_ = process.Wait() // the server's log has the reason
	}()
	return s.ready()
}

func (s *Server) ready() error {
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); {
		select {
		case <-s.ended:
			return fmt.Errorf("pgtest: the server on port %d ended at once\n%s", s.port, s.Log())
		case <-time.After(20 * time.Millisecond):
		}
		if s.run("pg_isready", "--quiet", "--host=127.0.0.1", "--port="+strconv.Itoa(s.port), "--username=nomen", "--dbname=postgres") == nil {
			return nil
		}
	}
	return fmt.Errorf("pgtest: the server on port %d does not answer", s.port)
}

// Kill kills the server and all its processes, as a power failure would.
func (s *Server) Kill() error {
	err := s.signal(sigKill)
	select {
	case <-s.ended:
		return err
	case <-time.After(patience):
		return fmt.Errorf("pgtest: the server on port %d cannot be killed", s.port)
	}
}

// Pause suspends the server and its connections until Resume.
func (s *Server) Pause() error { return s.signal(sigStop) }

// Resume ends a Pause.
func (s *Server) Resume() error { return s.signal(sigCont) }

// Dump writes a dump of the server's database to a file, which may exist.
func (s *Server) Dump(file string) error {
	out, err := os.Create(file)
	if err != nil {
		return err
	}
	return errors.Join(s.pipe(nil, out, "pg_dump", "--format=custom", "--dbname="+s.URL()), out.Close())
}

// Create makes an empty database and returns its connection string.
func (s *Server) Create(database string) (string, error) {
	url := strings.Replace(s.URL(), "/postgres?", "/"+database+"?", 1)
	return url, s.run("createdb", "--maintenance-db="+s.URL(), database)
}

// Undump creates a database from a dump and returns its connection string.
func (s *Server) Undump(file, database string) (string, error) {
	in, err := os.Open(file)
	if err != nil {
		return "", err
	}
	defer in.Close()
	url, err := s.Create(database)
	if err != nil {
		return "", err
	}
	return url, s.pipe(in, nil, "pg_restore", "--exit-on-error", "--dbname="+url)
}

// AwaitEnd waits until the server has no connection of the given application. A server executes the
// statements that it has received even after the client has ended.
func (s *Server) AwaitEnd(application string) error {
	ask := "select count(*) from pg_stat_activity where application_name = '" + application + "'"
	for end := time.Now().Add(patience); ; time.Sleep(10 * time.Millisecond) {
		var out strings.Builder
		err := s.pipe(nil, &out, "psql", "--no-psqlrc", "--tuples-only", "--no-align", "--dbname="+s.URL(), "--command="+ask)
		if err == nil && strings.TrimSpace(out.String()) == "0" {
			return nil
		}
		if time.Now().After(end) {
			return errors.Join(fmt.Errorf("pgtest: connections of %s do not end", application), err)
		}
	}
}

// signal sends a signal to all processes of the server, including processes that start meanwhile.
func (s *Server) signal(sig syscall.Signal) error {
	pid := s.process.Process.Pid
	children := childrenOf(pid) // a killed process has none
	err := kill(pid, sig)
	for _, child := range append(children, childrenOf(pid)...) {
		if n, err := strconv.Atoi(child); err == nil {
			_ = kill(n, sig) // it may have ended already
		}
	}
	return err
}

// childrenOf returns the child processes of a process on Linux. On other systems it returns
// nothing, because the children there notice the end of their parent.
func childrenOf(pid int) []string {
	children, _ := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/children", pid, pid))
	return strings.Fields(string(children))
}

// Stop stops the server if it runs, and removes its files.
func (s *Server) Stop() error {
	select {
	case <-s.ended:
		return os.RemoveAll(s.dir)
	default:
		return errors.Join(s.Kill(), os.RemoveAll(s.dir))
	}
}

func (s *Server) run(program string, args ...string) error { return s.pipe(nil, nil, program, args...) }

func (s *Server) pipe(in io.Reader, out io.Writer, program string, args ...string) error {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	cmd, err := s.command(ctx, program, args...)
	if err != nil {
		return err
	}
	var said strings.Builder
	cmd.Stdin, cmd.Stdout, cmd.Stderr = in, out, &said
	if out == nil {
		cmd.Stdout = &said
	}
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("pgtest: %s: %w\n%s", program, err, said.String())
	}
	return nil
}

func (s *Server) command(ctx context.Context, program string, args ...string) (*exec.Cmd, error) {
	path, err := find(program)
	if err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, path, args...)
	cmd.Dir = s.dir
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "LC_ALL=C.UTF-8", "TZ=UTC"}
	runAs(cmd, s.owner)
	return cmd, nil
}

// find returns the path of a program in PATH, or otherwise in Debian's directory of the newest
// version.
func find(program string) (string, error) {
	if path, err := exec.LookPath(program); err == nil {
		return path, nil
	}
	paths, _ := filepath.Glob("/usr/lib/postgresql/*/bin/" + program) // the pattern is valid
	if len(paths) == 0 {
		return "", fmt.Errorf("pgtest: %s is not installed; scripts/prepare.sh installs what tests need", program)
	}
	return slices.MaxFunc(paths, func(a, b string) int { return cmp.Compare(version(a), version(b)) }), nil
}

func version(path string) int {
	n, _ := strconv.Atoi(filepath.Base(filepath.Dir(filepath.Dir(path)))) // 0 if invalid
	return n
}

// unprivileged returns the user that runs a server, or nil for the user of the test.
func unprivileged() (*owner, error) {
	if os.Getuid() != 0 {
		return nil, nil
	}
	u, err := user.Lookup("postgres")
	if err != nil {
		u, err = user.Lookup("nobody")
	}
	if err != nil {
		return nil, err
	}
	uid, err := strconv.ParseUint(u.Uid, 10, 32)
	if err != nil {
		return nil, err
	}
	gid, err := strconv.ParseUint(u.Gid, 10, 32)
	if err != nil {
		return nil, err
	}
	return &owner{Uid: uint32(uid), Gid: uint32(gid)}, nil
}

func freePort() (int, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, err
	}
	return l.Addr().(*net.TCPAddr).Port, l.Close()
}
