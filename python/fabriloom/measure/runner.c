/* Runs the program of each terminal over MPI, one process for each, and tells the time of everything.
 *
 * The first process reads the plan from its standard input (plan.py) and writes to its standard output what came
 * of it (records.py): 64-bit numbers in the order of this machine. Operations are those of programs/kinds.py.
 * Every buffer is made before the start; nothing in the loop makes memory unless a server gets more than was
 * foreseen. All times are nanoseconds of CLOCK_MONOTONIC.
 */
#include <mpi.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#ifndef VERSION
#define VERSION 0
#endif

enum { SEND, RECEIVE, WAIT, UNTIL, REPEAT, END, BARRIER, MARK, READ, FLUSH };
enum { ANY = -1, SENDER = -2, TAGGED = -3 };        /* of peers */
enum { SAME = -2, SENDER_NUMBER = -3 };             /* of tags */
enum { RANKS, ROWS, TERMINALS, AT_ONCE, WARM_UPS, REPEATS, PATIENCE_S, STORED, LONGEST, LEAD_NS, HEAD };
enum { STUCK = 87, REFUSED = 88, PINGS = 64, DEEP = 4, WINDOW = 4096 };

typedef int64_t number;

typedef struct { number *at, count, room; } Rows;

static struct {
    number head[HEAD], *start, *terminal_of, *rank_of, rows;
    number *kind, *peer, *bytes, *tag, *amount, *server;
} plan;

static struct {
    MPI_Comm main, others, barriers;
    int rank, ranks, tag_most;
    char *out, *in;
    MPI_Request requests[WINDOW];
    number message_of[WINDOW], window, under_way;
    Rows made, received, marks;
    number blocked, began, zero, last_sender, last_tag, sent_count, received_count;
    volatile number step, row;
} my;

static number now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (number)t.tv_sec * 1000000000 + t.tv_nsec;
}

/* A launcher that ends all processes at once may not have read the message yet: it gets half a second. */
static void refuse(const char *what)
{
    struct timespec to_read = {0, 500000000};
    fprintf(stderr, "FABRILOOM-REFUSED %s\n", what);
    fflush(stderr);
    nanosleep(&to_read, NULL);
    MPI_Abort(MPI_COMM_WORLD, REFUSED);
    _exit(REFUSED);
}

static void *memory(size_t bytes)
{
    void *found = malloc(bytes ? bytes : 1);
    if (!found) refuse("there is not enough memory for the buffers and the times of all messages");
    memset(found, 0, bytes); /* touched now, so that no page is looked for in the loop */
    return found;
}

/* A row of so many numbers at the end. */
static number *add(Rows *rows, int width)
{
    if ((rows->count + 1) * width > rows->room) {
        rows->room = 2 * rows->room + 64 * width;
        rows->at = realloc(rows->at, rows->room * sizeof(number));
        if (!rows->at) refuse("there is not enough memory for the times of all messages");
    }
    return rows->at + width * rows->count++;
}

enum { MADE = 6, RECEIVED = 5, MARKED = 2 };

/* Tells who waits where, if nothing goes on for too long. */
static void *watch(void *unused)
{
    number before = -1, since = now();
    (void)unused;
    for (;;) {
        usleep(200000);
        if (my.step != before) {
            before = my.step;
            since = now();
        } else if (my.row >= 0 && now() - since > plan.head[PATIENCE_S] * 1000000000) {
            fprintf(stderr, "FABRILOOM-WAITS %d %lld\n", my.rank, (long long)my.row);
            fflush(stderr);
            usleep(500000); /* for the others to tell it too */
            _exit(STUCK);
        }
    }
    return NULL;
}

/* ---- sending ---- */

static void is_sent(int slot, number at)
{
    my.made.at[MADE * my.message_of[slot] + 5] = at - my.zero;
    my.under_way--;
    my.requests[slot] = my.requests[my.under_way];
    my.message_of[slot] = my.message_of[my.under_way];
}

/* Looks which messages are sent; waits for one of them if there is no place. */
static void look(number places)
{
    int done[WINDOW], count = 0;
    if (!my.under_way) return;
    number begin = now();
    if (my.under_way >= places)
        MPI_Waitsome((int)my.under_way, my.requests, &count, done, MPI_STATUSES_IGNORE);
    else
        MPI_Testsome((int)my.under_way, my.requests, &count, done, MPI_STATUSES_IGNORE);
    number at = now();
    if (my.under_way >= places) my.blocked += at - begin;
    for (int i = 1; i < count; i++) /* in falling order, as each is replaced by the last */
        for (int j = i; j > 0 && done[j] > done[j - 1]; j--) {
            int other = done[j];
            done[j] = done[j - 1];
            done[j - 1] = other;
        }
    for (int i = 0; i < count; i++) is_sent(done[i], at);
}

static void flush(void)
{
    number blocked = my.blocked;
    while (my.under_way) look(1);
    my.blocked = blocked;
}

static int mpi_tag(number tag)
{
    if (tag < 0) return 0;
    if (tag + 1 > my.tag_most) refuse("a tag is larger than this MPI allows; use smaller tags");
    return (int)tag + 1;
}

static void do_send(number row)
{
    if (my.under_way >= my.window) look(my.window);
    number peer = plan.peer[row], tag = plan.tag[row];
    if (peer == SENDER) peer = my.last_sender;
    if (peer == TAGGED) {
        number terminal = my.last_tag;
        int is_one = terminal >= 0 && terminal < plan.head[TERMINALS];
        peer = is_one ? plan.rank_of[terminal] : -1;
        if (peer < 0 || peer == my.rank) refuse("a message names a terminal that there is not, by its tag");
    }
    if (tag == SAME) tag = my.last_tag;
    if (tag == SENDER_NUMBER) tag = plan.terminal_of[my.last_sender];
    number index = my.made.count, *message = add(&my.made, MADE);
    message[0] = peer, message[1] = plan.bytes[row], message[2] = tag, message[5] = -1;
    int slot = (int)my.under_way++;
    my.message_of[slot] = index;
    my.sent_count++;
    int on_wire = mpi_tag(tag);
    number begin = now();
    MPI_Isend(my.out, (int)plan.bytes[row], MPI_BYTE, (int)peer, on_wire, my.main, &my.requests[slot]);
    if (plan.head[STORED]) MPI_Wait(&my.requests[slot], MPI_STATUS_IGNORE);
    number end = now();
    message[3] = begin - my.zero, message[4] = end - my.zero;
    if (plan.head[STORED]) is_sent(slot, end);
}

/* ---- receiving ---- */

static void is_received(MPI_Status *status, number at)
{
    int bytes;
    MPI_Get_count(status, MPI_BYTE, &bytes);
    number *message = add(&my.received, RECEIVED);
    message[0] = my.last_sender = status->MPI_SOURCE;
    message[1] = bytes;
    message[2] = my.last_tag = status->MPI_TAG - 1;
    message[3] = my.began - my.zero, message[4] = at - my.zero;
    my.received_count++;
}

/* Whether all programs are over or wait as servers and every message has come: all ask it again and again, each only
 * while it has nothing to do. The same sums twice, sent as many as received (Mattern's four counters). */
static struct { MPI_Request request; number mine[2], all[2], before[2]; int asked, over; } rest;

static int at_rest(void)
{
    int done = 0;
    if (rest.over) return 1;
    if (!rest.asked) {
        rest.mine[0] = my.sent_count, rest.mine[1] = my.received_count, rest.asked = 1;
        MPI_Iallreduce(rest.mine, rest.all, 2, MPI_INT64_T, MPI_SUM, my.others, &rest.request);
    }
    MPI_Test(&rest.request, &done, MPI_STATUS_IGNORE);
    if (!done) return 0;
    rest.asked = 0;
    rest.over = rest.all[0] == rest.all[1] && rest.all[0] == rest.before[0] && rest.all[1] == rest.before[1];
    rest.before[0] = rest.all[0], rest.before[1] = rest.all[1];
    return rest.over;
}

/* Waits for a message; of a server, whose program never ends, until all is at rest. Whether there was one. */
static int do_receive(number row)
{
    MPI_Status status;
    MPI_Request request;
    number peer = plan.peer[row], tag = plan.tag[row];
    if (peer == SENDER) peer = my.last_sender;
    if (tag == SAME) tag = my.last_tag;
    int source = peer < 0 ? MPI_ANY_SOURCE : (int)peer;
    int on_wire = tag < 0 ? MPI_ANY_TAG : mpi_tag(tag);
    my.began = now();
    if (!plan.server[row]) {
        MPI_Recv(my.in, (int)plan.head[LONGEST], MPI_BYTE, source, on_wire, my.main, &status);
        is_received(&status, now());
        look(WINDOW + 1);
        return 1;
    }
    int done = 0;
    MPI_Irecv(my.in, (int)plan.head[LONGEST], MPI_BYTE, source, on_wire, my.main, &request);
    for (;;) {
        MPI_Test(&request, &done, &status);
        if (done) break;
        if (my.under_way) look(WINDOW + 1);
        if (!my.under_way && at_rest()) {
            MPI_Cancel(&request);
            MPI_Wait(&request, MPI_STATUS_IGNORE);
            return 0;
        }
        my.step++;
    }
    is_received(&status, now());
    return 1;
}

/* What nobody receives is taken and counted, until all is at rest. */
static void drain(void)
{
    int there;
    MPI_Status status;
    while (my.under_way || !at_rest()) {
        if (my.under_way) look(WINDOW + 1);
        MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, my.main, &there, &status);
        if (!there) continue;
        my.began = now();
        MPI_Recv(my.in, (int)plan.head[LONGEST], MPI_BYTE, status.MPI_SOURCE, status.MPI_TAG, my.main, &status);
        is_received(&status, now());
        my.step++;
    }
}

/* ---- programs ---- */

static void spin(number until, int progress)
{
    while (now() < until)
        if (progress && my.under_way) look(WINDOW + 1);
}

/* Does one operation; false: it is a server's and all is at rest. */
static int do_one(number row)
{
    switch (plan.kind[row]) {
    case SEND: do_send(row); break;
    case RECEIVE: return do_receive(row);
    case WAIT: spin(now() + plan.amount[row], 0); break;
    case UNTIL: spin(my.zero + plan.amount[row], 1); break;
    case BARRIER: MPI_Barrier(my.barriers); break;
    case FLUSH: flush(); break;
    case MARK: {
        number *mark = add(&my.marks, MARKED);
        mark[0] = plan.tag[row] == SAME ? my.last_tag : plan.tag[row];
        mark[1] = now() - my.zero;
    }
    }
    return 1;
}

static void run(void)
{
    number first[DEEP], left[DEEP];
    int depth = 0;
    for (number row = 0; row < plan.rows; row++) {
        my.row = row;
        my.step++;
        if (plan.kind[row] == REPEAT) {
            first[depth] = row, left[depth++] = plan.amount[row];
        } else if (plan.kind[row] == END) {
            if (left[depth - 1] == 1)
                depth--;
            else {
                if (left[depth - 1]) left[depth - 1]--;
                row = first[depth - 1];
            }
        } else if (!do_one(row))
            break;
    }
    my.row = plan.rows;
    drain();
}

/* ---- clocks ---- */

static void ping(int other, number *offset, number *error)
{
    number times[3], best = INT64_MAX;
    for (int i = 0; i < PINGS; i++) {
        if (my.rank == 0) {
            times[0] = now();
            MPI_Send(times, 1, MPI_INT64_T, other, 1, my.others);
            MPI_Recv(&times[1], 1, MPI_INT64_T, other, 1, my.others, MPI_STATUS_IGNORE);
            times[2] = now();
            if (times[2] - times[0] < best) {
                best = times[2] - times[0];
                *offset = times[1] - (times[0] + best / 2), *error = (best + 1) / 2;
            }
        } else {
            MPI_Recv(times, 1, MPI_INT64_T, 0, 1, my.others, MPI_STATUS_IGNORE);
            times[1] = now();
            MPI_Send(&times[1], 1, MPI_INT64_T, 0, 1, my.others);
        }
    }
}

/* How far the clock of this process is before that of the first, and how well that is known. */
static void compare_clocks(number found[2])
{
    number told[2] = {0, 0};
    found[0] = found[1] = 0;
    for (int other = 1; other < my.ranks; other++) {
        if (my.rank == 0) {
            ping(other, &told[0], &told[1]);
            MPI_Send(told, 2, MPI_INT64_T, other, 2, my.others);
        } else if (my.rank == other) {
            ping(0, &told[0], &told[1]);
            MPI_Recv(found, 2, MPI_INT64_T, 0, 2, my.others, MPI_STATUS_IGNORE);
            if (llabs((long long)found[0]) <= found[1]) found[0] = found[1] = 0; /* one clock, on one machine */
        }
    }
}

/* ---- what goes in and out ---- */

static void read_all(void *to, size_t bytes)
{
    if (fread(to, 1, bytes, stdin) != bytes) refuse("the plan ends too early");
}

static void write_all(const void *from, size_t bytes)
{
    if (fwrite(from, 1, bytes, stdout) != bytes) refuse("what was measured cannot be written");
}

static number *shared(number count)
{
    number *found = memory(count * sizeof(number));
    if (my.rank == 0) read_all(found, count * sizeof(number));
    MPI_Bcast(found, (int)count, MPI_INT64_T, 0, MPI_COMM_WORLD);
    return found;
}

/* A column of the rows of all, of which each process gets its own. */
static number *own_rows(number rows)
{
    int counts[my.ranks], places[my.ranks];
    number *all = NULL, *mine = memory(rows * sizeof(number));
    for (int i = 0; i < my.ranks; i++) {
        places[i] = (int)plan.start[i];
        counts[i] = (int)(plan.start[i + 1] - plan.start[i]);
    }
    if (my.rank == 0) {
        all = memory(plan.head[ROWS] * sizeof(number));
        read_all(all, plan.head[ROWS] * sizeof(number));
    }
    MPI_Scatterv(all, counts, places, MPI_INT64_T, mine, (int)rows, MPI_INT64_T, 0, MPI_COMM_WORLD);
    free(all);
    return mine;
}

static void read_plan(void)
{
    number *head = shared(HEAD);
    memcpy(plan.head, head, sizeof plan.head);
    free(head);
    if (plan.head[RANKS] != my.ranks) refuse("there are fewer processes than terminals");
    plan.start = shared(my.ranks + 1);
    plan.terminal_of = shared(my.ranks);
    plan.rank_of = shared(plan.head[TERMINALS]);
    plan.rows = plan.start[my.rank + 1] - plan.start[my.rank];
    plan.kind = own_rows(plan.rows), plan.peer = own_rows(plan.rows), plan.bytes = own_rows(plan.rows);
    plan.tag = own_rows(plan.rows), plan.amount = own_rows(plan.rows), plan.server = own_rows(plan.rows);
    my.window = plan.head[AT_ONCE] && plan.head[AT_ONCE] < WINDOW ? plan.head[AT_ONCE] : WINDOW;
    my.out = memory(plan.head[LONGEST]), my.in = memory(plan.head[LONGEST]);
    int barriers = 0;
    for (number row = 0; row < plan.rows; row++) barriers |= plan.kind[row] == BARRIER;
    MPI_Comm_split(MPI_COMM_WORLD, barriers ? 1 : MPI_UNDEFINED, my.rank, &my.barriers);
}

/* Says which MPI this is and where each process runs, and refuses to work with other versions. */
static void introduce(void)
{
    char name[MPI_MAX_PROCESSOR_NAME + 1] = "", library[MPI_MAX_LIBRARY_VERSION_STRING + 1] = "";
    number version = VERSION, versions[my.ranks];
    int length;
    char(*names)[sizeof name] = memory(my.ranks * sizeof name);
    MPI_Get_processor_name(name, &length);
    MPI_Get_library_version(library, &length);
    MPI_Allgather(&version, 1, MPI_INT64_T, versions, 1, MPI_INT64_T, MPI_COMM_WORLD);
    MPI_Gather(name, sizeof name, MPI_CHAR, names, sizeof name, MPI_CHAR, 0, MPI_COMM_WORLD);
    for (int i = 0; i < my.ranks && my.rank == 0; i++)
        if (versions[i] != version) {
            fprintf(stderr, "FABRILOOM-VERSIONS %d %s\n", i, names[i]);
            refuse("the processes run different versions");
        }
    if (my.rank == 0) {
        number bytes = (number)strlen(library), size = sizeof name;
        write_all(&bytes, sizeof bytes), write_all(library, bytes), write_all(&size, sizeof size);
        write_all(names, my.ranks * sizeof name);
        fflush(stdout);
    }
    free(names);
}

/* What one process has measured in a round: ten numbers, then its messages. */
static void tell(number late, number end, number before[2], number after[2])
{
    number head[10] = {my.made.count, my.received.count, my.marks.count, my.blocked, late, end};
    memcpy(head + 6, before, 2 * sizeof(number)), memcpy(head + 8, after, 2 * sizeof(number));
    Rows *parts[3] = {&my.made, &my.received, &my.marks};
    int widths[3] = {MADE, RECEIVED, MARKED};
    if (my.rank > 0) {
        MPI_Send(head, 10, MPI_INT64_T, 0, 3, my.others);
        for (int i = 0; i < 3; i++)
            MPI_Send(parts[i]->at, (int)(parts[i]->count * widths[i]), MPI_INT64_T, 0, 4 + i, my.others);
        return;
    }
    for (int other = 0; other < my.ranks; other++) {
        if (other > 0) MPI_Recv(head, 10, MPI_INT64_T, other, 3, my.others, MPI_STATUS_IGNORE);
        write_all(head, sizeof head);
        for (int i = 0; i < 3; i++) {
            number count = head[i] * widths[i], *rows = other ? memory(count * sizeof(number)) : parts[i]->at;
            if (other > 0)
                MPI_Recv(rows, (int)count, MPI_INT64_T, other, 4 + i, my.others, MPI_STATUS_IGNORE);
            write_all(rows, count * sizeof(number));
            if (other > 0) free(rows);
        }
    }
    fflush(stdout);
}

static void one_round(int measured)
{
    number before[2], after[2], zero = 0;
    my.made.count = my.received.count = my.marks.count = 0;
    my.blocked = my.sent_count = my.received_count = 0;
    memset(&rest, 0, sizeof rest);
    compare_clocks(before);
    if (my.rank == 0) zero = now() + plan.head[LEAD_NS];
    MPI_Bcast(&zero, 1, MPI_INT64_T, 0, my.others);
    my.zero = zero + before[0];
    number late = now() - my.zero;
    spin(my.zero, 0);
    run();
    number end = now() - my.zero;
    my.row = -1;
    compare_clocks(after);
    if (measured) tell(late > 0 ? late : 0, end, before, after);
}

int main(int argc, char **argv)
{
    int flag, *most, provided;
    pthread_t watcher;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &my.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &my.ranks);
    MPI_Comm_dup(MPI_COMM_WORLD, &my.main);
    MPI_Comm_dup(MPI_COMM_WORLD, &my.others);
    MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &most, &flag);
    my.tag_most = flag ? *most : 32767;
    my.row = -1;
    introduce();
    read_plan();
    pthread_create(&watcher, NULL, watch, NULL);
    for (number i = 0; i < plan.head[WARM_UPS] + plan.head[REPEATS]; i++)
        one_round(i >= plan.head[WARM_UPS]);
    MPI_Finalize();
    return 0;
}
