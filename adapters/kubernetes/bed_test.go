// SPDX-License-Identifier: BSD-3-Clause

package main

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	v1 "k8s.io/api/core/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/client-go/discovery/cached/memory"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/restmapper"
)

// bed is an etcd, a kube-apiserver and a kwok on loopback, which end with the test.
type bed struct {
	t      *testing.T
	bins   string // of the programs
	dir    string
	port   int
	server *exec.Cmd
	kubernetes.Interface
	config *rest.Config
}

// newBed starts a bed with the programs that bed/build.sh has built, or skips the test.
func newBed(t *testing.T) *bed {
	b := &bed{t: t, bins: os.Getenv("AUCSCHED_KUBE_BED"), dir: t.TempDir()}
	if b.bins == "" {
		t.Skip("make test runs this: it needs a kube-apiserver")
	}
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	require.NoError(t, err)
	b.write("sa.key", string(pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(key)})))
	b.write("tokens", "admin,admin,1,system:masters\naucsched,system:serviceaccount:kube-system:aucsched,2\n")
	client, peer := freePort(t), freePort(t)
	etcd := fmt.Sprint("http://127.0.0.1:", client)
	b.start("etcd", nil, "etcd", "--data-dir", b.path("etcd"), "--unsafe-no-fsync",
		"--listen-client-urls", etcd, "--advertise-client-urls", etcd,
		"--quota-backend-bytes", fmt.Sprint(2<<30), "--listen-peer-urls", fmt.Sprint("http://127.0.0.1:", peer),
		"--initial-advertise-peer-urls", fmt.Sprint("http://127.0.0.1:", peer),
		"--initial-cluster", fmt.Sprint("default=http://127.0.0.1:", peer),
		"--log-level", "error")
	b.port = freePort(t)
	b.startServer(etcd)
	b.config = &rest.Config{Host: fmt.Sprint("https://127.0.0.1:", b.port), BearerToken: "admin", QPS: 2000, Burst: 4000,
		TLSClientConfig: rest.TLSClientConfig{Insecure: true}}
	b.Interface, err = kubernetes.NewForConfig(b.config)
	require.NoError(t, err)
	b.await()
	b.apply("manifests/rbac.yaml")
	for _, user := range []string{"admin", "aucsched"} {
		b.write(user+".yaml", fmt.Sprintf(`{apiVersion: v1, kind: Config, current-context: x,
clusters: [{name: x, cluster: {server: "https://127.0.0.1:%d", insecure-skip-tls-verify: true}}],
users: [{name: x, user: {token: %s}}], contexts: [{name: x, context: {cluster: x, user: x}}]}`, b.port, user))
	}
	b.start("kwok", nil, "kwok", "--kubeconfig", b.path("admin.yaml"), "--manage-all-nodes", "--node-lease-duration-seconds", "0")
	for name, value := range map[string]int32{"low": 10, "mid": 100, "high": 1000} {
		class := &schedulingv1.PriorityClass{ObjectMeta: metav1.ObjectMeta{Name: name}, Value: value}
		_, err := b.SchedulingV1().PriorityClasses().Create(ctx(), class, metav1.CreateOptions{})
		require.NoError(t, err)
	}
	return b
}

func ctx() context.Context { return context.Background() }

func (b *bed) path(name string) string { return filepath.Join(b.dir, name) }

func (b *bed) write(name, text string) {
	require.NoError(b.t, os.WriteFile(b.path(name), []byte(text), 0o600))
}

func freePort(t *testing.T) int {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port
}

// start starts a program of the bed; it ends with the test. What it says is shown if the test fails.
func (b *bed) start(name string, env []string, program string, args ...string) *exec.Cmd {
	if !filepath.IsAbs(program) {
		program = filepath.Join(b.bins, program)
	}
	c := exec.Command(program, args...)
	c.Env = append(os.Environ(), env...)
	c.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	log, err := os.OpenFile(b.path(name+".log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	require.NoError(b.t, err)
	c.Stdout, c.Stderr = log, log
	require.NoError(b.t, c.Start())
	b.t.Cleanup(func() {
		kill(c)
		log.Close()
		if d := os.Getenv("KEEP_LOGS"); d != "" {
			_ = os.Rename(b.path(name+".log"), filepath.Join(d, name+".log"))
		}
		if text, _ := os.ReadFile(b.path(name + ".log")); b.t.Failed() {
			b.t.Logf("%s: %s", name, text[max(0, len(text)-3000):])
		}
	})
	return c
}

// kill ends a process at once, unless it has ended.
func kill(c *exec.Cmd) {
	if c.ProcessState == nil {
		_ = c.Process.Kill()
		_ = c.Wait()
	}
}

func (b *bed) startServer(etcd string) {
	b.server = b.start("kube-apiserver", nil, "kube-apiserver", "--etcd-servers", etcd, "--secure-port", fmt.Sprint(b.port),
		"--bind-address", "127.0.0.1", "--cert-dir", b.path("certs"), "--token-auth-file", b.path("tokens"), "--authorization-mode", "RBAC",
		"--disable-admission-plugins", "ServiceAccount,TaintNodesByCondition", "--service-account-issuer", "https://bed",
		"--service-account-key-file", b.path("sa.key"), "--service-account-signing-key-file", b.path("sa.key"),
		"--max-requests-inflight", "2000", "--max-mutating-requests-inflight", "1000", "--enable-priority-and-fairness=false",
		"--feature-gates", "GenericWorkload=true", "--runtime-config", "scheduling.k8s.io/v1alpha1=true")
}

// restartServer kills the API server and starts another.
func (b *bed) restartServer() {
	args := b.server.Args
	kill(b.server)
	b.server = b.start("kube-apiserver", nil, args[0], args[1:]...)
	b.await()
}

func (b *bed) await() {
	require.Eventually(b.t, func() bool {
		_, err := b.Discovery().RESTClient().Get().AbsPath("/readyz").DoRaw(ctx())
		return err == nil
	}, 2*time.Minute, 100*time.Millisecond, "kube-apiserver")
}

// apply creates the objects of a file.
func (b *bed) apply(file string) {
	text, err := os.ReadFile(file)
	require.NoError(b.t, err)
	client, err := dynamic.NewForConfig(b.config)
	require.NoError(b.t, err)
	require.Eventually(b.t, func() bool {
		_, err = b.CoreV1().Namespaces().Get(ctx(), "kube-system", metav1.GetOptions{})
		return err == nil
	}, time.Minute, 100*time.Millisecond)
	mapper := restmapper.NewDeferredDiscoveryRESTMapper(memory.NewMemCacheClient(b.Discovery()))
	for d := yaml.NewYAMLOrJSONDecoder(bytes.NewReader(text), 4096); ; {
		x := new(unstructured.Unstructured)
		if err := d.Decode(&x.Object); errors.Is(err, io.EOF) {
			return
		} else if err != nil {
			require.NoError(b.t, err)
		}
		if versions, _, _ := unstructured.NestedSlice(x.Object, "spec", "versions"); len(versions) > 1 { // without a webhook one has to do
			stored := slices.DeleteFunc(versions, func(v any) bool { return v.(map[string]any)["storage"] != true })
			require.NoError(b.t, unstructured.SetNestedSlice(x.Object, stored, "spec", "versions"))
		}
		m, err := mapper.RESTMapping(x.GroupVersionKind().GroupKind(), x.GroupVersionKind().Version)
		require.NoError(b.t, err)
		to := dynamic.ResourceInterface(client.Resource(m.Resource))
		if x.GetNamespace() != "" {
			to = client.Resource(m.Resource).Namespace(x.GetNamespace())
		}
		_, err = to.Create(ctx(), x, metav1.CreateOptions{})
		require.NoError(b.t, err, file)
	}
}

// program is the path of aucsched-kube: AUCSCHED_KUBE, or built for this run.
var program = sync.OnceValues(func() (string, error) {
	if path := os.Getenv("AUCSCHED_KUBE"); path != "" {
		return path, nil
	}
	path := filepath.Join(os.TempDir(), fmt.Sprint("aucsched-kube-", os.Getpid()))
	build := exec.Command("go", "build", "-trimpath", "-o", path, ".")
	build.Env = append(os.Environ(), "CGO_ENABLED=0") // as the Dockerfile does
	out, err := build.CombinedOutput()
	if err != nil {
		err = fmt.Errorf("%w: %s", err, out)
	}
	return path, err
})

func TestMain(m *testing.M) {
	code := m.Run()
	_ = os.Remove(filepath.Join(os.TempDir(), fmt.Sprint("aucsched-kube-", os.Getpid())))
	os.Exit(code)
}

// controller starts an aucsched-kube with the rights that manifests/rbac.yaml gives it.
func (b *bed) controller(name string, args ...string) *exec.Cmd {
	path, err := program()
	require.NoError(b.t, err)
	args = append([]string{"--kubeconfig", b.path("aucsched.yaml"), "--listen", "", "--qps", "2000"}, args...)
	return b.start(name, nil, path, args...)
}

// inImage starts an aucsched-kube as the image has it: alone below its root, with what a pod is given.
func (b *bed) inImage(listen string) {
	path, err := program()
	require.NoError(b.t, err)
	text, err := os.ReadFile(path)
	require.NoError(b.t, err)
	certificate, err := os.ReadFile(b.path("certs/apiserver.crt"))
	require.NoError(b.t, err)
	const secrets = "image/var/run/secrets/kubernetes.io/serviceaccount"
	require.NoError(b.t, os.MkdirAll(b.path(secrets), 0o700))
	require.NoError(b.t, os.WriteFile(b.path("image/aucsched-kube"), text, 0o700))
	b.write(secrets+"/ca.crt", string(certificate))
	b.write(secrets+"/token", "aucsched")
	b.start("aucsched", []string{"KUBECONFIG=", "KUBERNETES_SERVICE_HOST=127.0.0.1", fmt.Sprint("KUBERNETES_SERVICE_PORT=", b.port)},
		"/usr/sbin/chroot", b.path("image"), "/aucsched-kube", "--listen", listen)
}

// addNode creates a node; kwok has it ready. The server may be away, and kwok may be faster.
func (b *bed) addNode(n *v1.Node) {
	n = n.DeepCopy()
	n.Status.Capacity = n.Status.Allocatable
	require.Eventually(b.t, func() bool {
		_, err := b.CoreV1().Nodes().Create(ctx(), n, metav1.CreateOptions{})
		return err == nil || isExists(err)
	}, time.Minute, 50*time.Millisecond, n.Name)
	require.Eventually(b.t, func() bool {
		x, err := b.CoreV1().Nodes().Get(ctx(), n.Name, metav1.GetOptions{})
		if err == nil {
			x.Status.Allocatable, x.Status.Capacity = n.Status.Allocatable, n.Status.Capacity
			_, err = b.CoreV1().Nodes().UpdateStatus(ctx(), x, metav1.UpdateOptions{})
		}
		return err == nil
	}, time.Minute, 50*time.Millisecond, n.Name)
}

// each calls f of 0 to n-1, some at once.
func each(n int, f func(int)) {
	var wait sync.WaitGroup
	next := make(chan int)
	for range 16 {
		wait.Go(func() {
			for i := range next {
				f(i)
			}
		})
	}
	for i := range n {
		next <- i
	}
	close(next)
	wait.Wait()
}
