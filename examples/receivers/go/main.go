// A receiver of Strandline's webhooks, on the standard library alone (Go 1.19 or newer).
//
//	WEBHOOK_SECRET=whsec_... go run . -port 8000 -journal journal.jsonl
//
// What a receiver has to do is in four functions, in the order in which they are called:
//
//  1. verify       is it from us, and not an old request that somebody plays again?
//  2. oneAtATime   a request that timed out may still be worked on here when it comes again
//  3. isNew        was it handled before? Strandline delivers at least once
//  4. handle       the effect, and the record that it has taken place, in one step
//
// This one's effect is a line in a journal. In a service of yours it is a transaction of your database: insert the
// idempotency key into a table where it is unique, do what the event says, commit.
package main

import (
	"bufio"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"
)

const (
	// By how much the time of a request may differ from ours.
	tolerance = 5 * time.Minute
	// Bytes of a request; what is larger is refused.
	largest = 8 << 20
)

// verify checks signature and time as Standard Webhooks has them.
//
// The signature is of the bytes as they came: parse them only afterwards, and never sign what was parsed and written
// again. Several secrets, and several signatures in one header, are for the time in which a secret changes.
func verify(secrets [][]byte, header http.Header, body []byte) error {
	timestamp := header.Get("webhook-timestamp")
	seconds, err := strconv.ParseInt(timestamp, 10, 64)
	if err != nil {
		return errors.New("the timestamp is missing")
	}
	if age := time.Since(time.Unix(seconds, 0)); age > tolerance || age < -tolerance {
		return errors.New("the timestamp is too far from now")
	}
	given := strings.Split(header.Get("webhook-signature"), " ")
	for _, secret := range secrets {
		mac := hmac.New(sha256.New, secret)
		mac.Write([]byte(header.Get("webhook-id") + "." + timestamp + "."))
		mac.Write(body)
		expected := "v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil))
		for _, one := range given {
			// hmac.Equal takes the same time wherever the two differ.
			if hmac.Equal([]byte(expected), []byte(one)) {
				return nil
			}
		}
	}
	return errors.New("no signature is by one of the secrets")
}

// event is what a request is about. A number in Data keeps all its digits as long as nobody makes a float of it.
type event struct {
	IdempotencyKey string          `json:"idempotencyKey"`
	Key            string          `json:"key"`
	Data           json.RawMessage `json:"data"`
}

// line is what the journal keeps of an event.
type line struct {
	IdempotencyKey string `json:"idempotencyKey"`
	Key            string `json:"key"`
	Version        *int64 `json:"version"`
}

type counts struct {
	Handled    int `json:"handled"`
	Duplicates int `json:"duplicates"`
	Refused    int `json:"refused"`
	OutOfOrder int `json:"outOfOrder"`
}

// orders is what was handled, and how far each key is.
type orders struct {
	mutex    sync.Mutex
	keys     map[string]*sync.Mutex
	handled  map[string]bool
	versions map[string]int64
	counts   counts
	journal  *os.File
}

func openOrders(path string) (*orders, error) {
	journal, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR|os.O_APPEND, 0o644)
	if err != nil {
		return nil, err
	}
	o := &orders{
		keys:     map[string]*sync.Mutex{},
		handled:  map[string]bool{},
		versions: map[string]int64{},
		journal:  journal,
	}
	lines := bufio.NewScanner(journal)
	for lines.Scan() {
		var l line
		if err := json.Unmarshal(lines.Bytes(), &l); err != nil {
			return nil, err
		}
		o.remember(l)
	}
	return o, lines.Err()
}

// oneAtATime makes events of one key wait for each other.
func (o *orders) oneAtATime(key string) *sync.Mutex {
	o.mutex.Lock()
	defer o.mutex.Unlock()
	if o.keys[key] == nil {
		o.keys[key] = &sync.Mutex{}
	}
	return o.keys[key]
}

func (o *orders) isNew(idempotencyKey string) bool {
	o.mutex.Lock()
	defer o.mutex.Unlock()
	if o.handled[idempotencyKey] {
		o.counts.Duplicates++
		return false
	}
	return true
}

// handle is the effect. It is called once for each event, and in order for each key.
func (o *orders) handle(e event) error {
	// A version that your own application counts for each key says whether one is missing or comes too late. You need
	// not check it: the sender keeps the order. It is the way to see that it does.
	var data struct {
		Version *int64 `json:"version"`
	}
	// What has no version, or is no object, has none to check.
	_ = json.Unmarshal(e.Data, &data)
	l := line{e.IdempotencyKey, e.Key, data.Version}
	written, err := json.Marshal(l)
	if err != nil {
		return err
	}
	o.mutex.Lock()
	defer o.mutex.Unlock()
	if last, ok := o.versions[e.Key]; ok && l.Version != nil && *l.Version <= last {
		o.counts.OutOfOrder++
		log.Printf("out of order: %s version %d after %d", e.Key, *l.Version, last)
	}
	if _, err := o.journal.Write(append(written, '\n')); err != nil {
		return err
	}
	o.remember(l)
	return nil
}

func (o *orders) remember(l line) {
	o.handled[l.IdempotencyKey] = true
	if l.Version != nil {
		o.versions[l.Key] = *l.Version
	}
	o.counts.Handled++
}

// flaky is for trying things out: some requests fail, by their number, in the ways in which requests do.
type flaky struct {
	enabled  bool
	mutex    sync.Mutex
	requests int
}

func (f *flaky) next() string {
	f.mutex.Lock()
	defer f.mutex.Unlock()
	f.requests++
	switch {
	case !f.enabled:
		return "answer"
	case f.requests%40 == 5:
		return "busy"
	case f.requests%10 == 3:
		return "fail"
	case f.requests%10 == 7:
		return "drop before"
	case f.requests%10 == 9:
		return "drop after"
	}
	return "answer"
}

type receiver struct {
	secrets [][]byte
	orders  *orders
	flaky   flaky
}

func (r *receiver) ServeHTTP(w http.ResponseWriter, request *http.Request) {
	if request.Method == http.MethodGet {
		r.answerCounts(w)
		return
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, request.Body, largest))
	if err != nil {
		http.Error(w, "too large, or cut off", http.StatusRequestEntityTooLarge)
		return
	}
	how := r.flaky.next()
	switch how {
	case "fail":
		w.WriteHeader(http.StatusInternalServerError)
		return
	case "busy":
		w.Header().Set("retry-after", "1")
		w.WriteHeader(http.StatusTooManyRequests)
		return
	case "drop before":
		panic(http.ErrAbortHandler) // closes the connection
	}
	if err := verify(r.secrets, request.Header, body); err != nil {
		r.orders.mutex.Lock()
		r.orders.counts.Refused++
		r.orders.mutex.Unlock()
		log.Printf("refused: %v", err)
		w.WriteHeader(http.StatusUnauthorized)
		return
	}
	if err := r.receive(body); err != nil {
		log.Printf("failed: %v", err)
		w.WriteHeader(http.StatusInternalServerError)
		return
	}
	if how == "drop after" {
		panic(http.ErrAbortHandler)
	}
	w.WriteHeader(http.StatusNoContent)
}

// receive handles one event, or a batch of events of one key.
func (r *receiver) receive(body []byte) error {
	var events []event
	if err := json.Unmarshal(body, &events); err != nil {
		events = make([]event, 1)
		if err := json.Unmarshal(body, &events[0]); err != nil {
			return err
		}
	}
	for _, e := range events {
		if err := r.receiveOne(e); err != nil {
			return err
		}
	}
	return nil
}

func (r *receiver) receiveOne(e event) error {
	key := r.orders.oneAtATime(e.Key)
	key.Lock()
	defer key.Unlock()
	if !r.orders.isNew(e.IdempotencyKey) {
		return nil
	}
	return r.orders.handle(e)
}

// answerCounts says what was counted, for whoever looks.
func (r *receiver) answerCounts(w http.ResponseWriter) {
	r.orders.mutex.Lock()
	counts := r.orders.counts
	r.orders.mutex.Unlock()
	w.Header().Set("content-type", "application/json")
	_ = json.NewEncoder(w).Encode(counts)
}

func secretsOf(text string) ([][]byte, error) {
	var secrets [][]byte
	for _, secret := range strings.Fields(text) {
		key, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(secret, "whsec_"))
		if err != nil || !strings.HasPrefix(secret, "whsec_") {
			return nil, errors.New("a secret is whsec_ and base64")
		}
		secrets = append(secrets, key)
	}
	if len(secrets) == 0 {
		return nil, errors.New("set WEBHOOK_SECRET to the secret of the webhook, or to several with spaces in between")
	}
	return secrets, nil
}

func main() {
	port := flag.Int("port", 8000, "0 takes a free one")
	journal := flag.String("journal", "journal.jsonl", "where what was handled is written")
	isFlaky := flag.Bool("flaky", false, "fail now and then, to see what follows")
	flag.Parse()
	secrets, err := secretsOf(os.Getenv("WEBHOOK_SECRET"))
	if err != nil {
		log.Fatal(err)
	}
	orders, err := openOrders(*journal)
	if err != nil {
		log.Fatal(err)
	}
	listener, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", *port))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("listening on http://%s\n", listener.Addr())
	server := &http.Server{
		Handler:           &receiver{secrets: secrets, orders: orders, flaky: flaky{enabled: *isFlaky}},
		ReadHeaderTimeout: 10 * time.Second,
		IdleTimeout:       time.Minute,
		ErrorLog:          log.New(io.Discard, "", 0),
	}
	log.Fatal(server.Serve(listener))
}
