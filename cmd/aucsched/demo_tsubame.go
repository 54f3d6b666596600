package main

func (d *demo) tsubame() error { return nil }
