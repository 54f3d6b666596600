// SPDX-License-Identifier: BSD-3-Clause

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/aucsched/aucsched/internal/cli"
	"github.com/aucsched/aucsched/internal/durable"
	"github.com/aucsched/aucsched/internal/slurm/metrics"
)

func metricsCommand() *cobra.Command { return newMetricsCommand(time.Now, os.Getenv) }

// meter reads a status file and makes metrics of it.
type meter struct {
	file string
	now  func() time.Time
}

func newMetricsCommand(now func() time.Time, getenv func(string) string) *cobra.Command {
	var file, listen, textfile, format string
	c := &cobra.Command{
		Use:   "metrics",
		Short: "Print the figures of the auction inside slurmctld for Prometheus, or serve them",
		Long: `metrics prints the status file (see aucsched status) as metrics for Prometheus, in the OpenMetrics
format: slurm_aucsched_cycles_total and so on. With --listen it serves /metrics until it is stopped.
With --textfile it atomically writes a file for node_exporter's textfile collector.

Without a status, slurm_aucsched_up is 0 and the exit status is 1.`,
		Example: "  aucsched metrics\n  aucsched metrics --listen 127.0.0.1:9817",
		Args:    cli.ExactArgs(0),
		RunE: func(c *cobra.Command, _ []string) error {
			if listen != "" && textfile != "" {
				return cli.BadInput(errors.New("--listen and --textfile go without each other"))
			}
			if format != "openmetrics" && format != "text" {
				return cli.BadInput(cli.Unknown("format", format, []string{"openmetrics", "text"}))
			}
			file, err := statusFile(file, getenv)
			if err != nil {
				return err
			}
			m := &meter{file, now}
			switch {
			case listen != "":
				return m.serve(c.Context(), listen, c.ErrOrStderr())
			case textfile != "":
				return m.writeTo(textfile)
			}
			as := metrics.OpenMetrics
			if format == "text" {
				as = metrics.Text
			}
			families, failed := m.read()
			_, err = c.OutOrStdout().Write(metrics.Write(as, families))
			return errors.Join(err, failed)
		},
	}
	c.Flags().StringVar(&file, "file", "", "the status file")
	c.Flags().StringVar(&listen, "listen", "", "serve /metrics at HOST:PORT, until ended")
	c.Flags().StringVar(&textfile, "textfile", "", "write to this file, whose name is to end in .prom")
	c.Flags().StringVar(&format, "format", "openmetrics", "of what is printed: openmetrics, or text for promtool")
	return c
}

// read makes metrics of the file. Without one, the only metric is that it is down, and read says why.
func (m *meter) read() ([]metrics.Family, error) {
	s, _, err := readStatus(m.file)
	if err != nil {
		return metrics.Down(), err
	}
	return metrics.Families(s.fields, s.age(m.now()), max(staleAfter*s.interval, statusPause)), nil
}

// statusPause is how long a status may stay as it is with the shortest interval: cycles that have
// nothing to do write it too, and a long one does not.
const statusPause = time.Minute

func (m *meter) writeTo(path string) error {
	families, failed := m.read()
	return errors.Join(durable.Write(path, metrics.Write(metrics.Text, families)), failed)
}

// Limits of a server that anybody may ask.
const (
	mostAsking  = 16
	askingTime  = 10 * time.Second
	mostHeaders = 16 << 10
)

func (m *meter) serve(ctx context.Context, address string, errs io.Writer) error {
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", address)
	if err != nil {
		return cli.BadInput(fmt.Errorf("--listen: %w", err))
	}
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", m.handler())
	server := &http.Server{Handler: mux, ReadTimeout: askingTime, WriteTimeout: askingTime, IdleTimeout: askingTime,
		MaxHeaderBytes: mostHeaders}
	fmt.Fprintf(errs, "serving http://%s/metrics\n", l.Addr())
	stop := context.AfterFunc(ctx, func() { server.Close() })
	defer stop()
	if err := server.Serve(l); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

func (m *meter) handler() http.Handler {
	free := make(chan struct{}, mostAsking)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		select {
		case free <- struct{}{}:
			defer func() { <-free }()
		default:
			http.Error(w, "too many ask at the same time", http.StatusServiceUnavailable)
			return
		}
		format := metrics.Accepted(r.Header.Get("Accept"))
		families, failed := m.read()
		if failed != nil {
			slog.Warn(fmt.Sprintf("no status: %v", failed))
		}
		w.Header().Set("Content-Type", string(format))
		if _, err := w.Write(metrics.Write(format, families)); err != nil {
			slog.Warn(fmt.Sprintf("an answer was not sent: %v", err))
		}
	})
}
