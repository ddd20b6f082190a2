/* Bowman's snapshot (Algorithm 1 of Amram et al., DISC 2022) for N processes, in all
 * (0,1)-simple executions of the most general client, together with the observer that
 * accepts the non-linearizable ones: an accepting response is a failed assertion.
 *
 * The granularity is that of `snapshot-verify check bowman --pairs 0,1 --reductions
 * dead,constant`: an invocation, an access to shared memory and a response are one
 * step each. Segments other than 0 and 1 never change, so nobody writes or reads
 * them; a local variable is reset when nobody will read it any more. So both count
 * the same states and transitions.
 *
 *   spin -a -DN=3 bowman.pml && cc -O2 -DSAFETY -DNOREDUCE -o pan pan.c && ./pan -m100000
 */

#ifndef N
#define N 3
#endif

#define NONE N

byte named = NONE;		/* `active` in the algorithm, a keyword of Promela */
bit a0, a1;

/* The observer: six bits, and `must0`, `must1` of each open scan. */
bit invoked0, invoked1, needed0, needed1, bad01, bad10;

active [N] proctype process() {
	bit v, copy0, copy1, must0, must1;

idle:
	if
	:: d_step { _pid > 1 || (_pid == 0 && !invoked0) || (_pid == 1 && !invoked1) -> v = 0 }
	   goto update
	:: d_step {
		_pid == 0 -> v = 1;
		if
		:: !invoked0 -> invoked0 = 1; bad10 = bad10 | needed1
		:: else
		fi
	   }
	   goto update
	:: d_step {
		_pid == 1 -> v = 1;
		if
		:: !invoked1 -> invoked1 = 1; bad01 = bad01 | needed0
		:: else
		fi
	   }
	   goto update
	:: d_step { must0 = needed0; must1 = needed1 }
	   goto scan
	fi;

update:
	named = NONE;
	if
	:: d_step { _pid == 0 -> a0 = v }
	   d_step { needed0 = needed0 | v; v = 0 }
	:: d_step { _pid == 1 -> a1 = v }
	   d_step { needed1 = needed1 | v; v = 0 }
	:: d_step { _pid > 1 -> skip }
	fi;
	goto idle;

scan:
	named = _pid;
	copy0 = a0;
	copy1 = a1;
	if
	:: d_step { named != _pid -> copy0 = 0; copy1 = 0 }
	   goto scan
	:: named == _pid
	fi;
	d_step {
		assert(copy0 >= must0 && copy1 >= must1);	/* a decrease, or 3 (a) */
		assert(copy0 <= invoked0 && copy1 <= invoked1);	/* 3 (b) */
		if
		:: !copy0 && copy1 -> assert(!bad01); bad10 = 1
		:: copy0 && !copy1 -> assert(!bad10); bad01 = 1
		:: else
		fi;
		needed0 = needed0 | copy0;
		needed1 = needed1 | copy1;
		must0 = 0; must1 = 0; copy0 = 0; copy1 = 0
	}
	goto idle
}
