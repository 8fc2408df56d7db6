// libcurl for Swift: functions that stand in for its variadic functions and its macros. On systems other than Linux
// this header is empty.
#pragma once

#ifdef __linux__

#if !__has_include(<curl/curl.h>)
#error "BatonNetwork needs libcurl: install its headers, on Debian and Ubuntu with apt-get install libcurl4-openssl-dev"
#endif
#include <curl/curl.h>
#include <stdint.h>

#if LIBCURL_VERSION_NUM < 0x075500
#error "BatonNetwork needs libcurl 7.85 or later"
#endif

/// Make and free handles and lists, and count those that exist.
CURL *_Nullable baton_curl_make_handle(void);
void baton_curl_free_handle(CURL *_Nonnull handle);
CURLM *_Nullable baton_curl_make_multi(void);
void baton_curl_free_multi(CURLM *_Nonnull multi);
void baton_curl_free_share(CURLSH *_Nonnull share);
/// Returns the list with a copy of the text at its end, or null if there is no memory left; the list is unchanged then.
struct curl_slist *_Nullable baton_curl_append(struct curl_slist *_Nullable list, const char *_Nonnull text);
void baton_curl_free_list(struct curl_slist *_Nullable list);

/// Returns the number of handles, multi handles, shares and lists that have been made and not been freed. Tests use it.
long baton_curl_object_count(void);

/// Set an option, one function for each type of value.
CURLcode baton_curl_set_long(CURL *_Nonnull handle, CURLoption option, long value);
CURLcode baton_curl_set_offset(CURL *_Nonnull handle, CURLoption option, long long value);
CURLcode baton_curl_set_string(CURL *_Nonnull handle, CURLoption option, const char *_Nullable value);
CURLcode baton_curl_set_pointer(CURL *_Nonnull handle, CURLoption option, void *_Nullable value);
CURLcode baton_curl_set_list(CURL *_Nonnull handle, CURLoption option, struct curl_slist *_Nullable list);

typedef size_t (*baton_curl_data)(char *_Nonnull bytes, size_t size, size_t count, void *_Nullable context);
typedef int (*baton_curl_seek)(void *_Nullable context, curl_off_t offset, int origin);
typedef int (*baton_curl_progress)(
    void *_Nullable context, curl_off_t toReceive, curl_off_t received, curl_off_t toSend, curl_off_t sent);
typedef int (*baton_curl_request)(
    void *_Nullable context, char *_Nullable peer, char *_Nullable local, int peer_port, int local_port);
typedef curl_socket_t (*baton_curl_socket)(
    void *_Nullable context, curlsocktype purpose, struct curl_sockaddr *_Nullable address);
typedef int (*baton_curl_resolve)(void *_Nullable state, void *_Nullable reserved, void *_Nullable context);

/// Set a callback. `baton_curl_set_data` sets the callbacks that write data, read data and receive header lines.
CURLcode baton_curl_set_data(CURL *_Nonnull handle, CURLoption option, baton_curl_data _Nonnull function);
CURLcode baton_curl_set_seek(CURL *_Nonnull handle, baton_curl_seek _Nonnull function);
CURLcode baton_curl_set_progress(CURL *_Nonnull handle, baton_curl_progress _Nonnull function);
CURLcode baton_curl_set_request(CURL *_Nonnull handle, baton_curl_request _Nonnull function);
CURLcode baton_curl_set_socket(CURL *_Nonnull handle, baton_curl_socket _Nonnull function);
CURLcode baton_curl_set_resolve(CURL *_Nonnull handle, baton_curl_resolve _Nonnull function);

/// Return a piece of information, or 0 or null if there is none.
long baton_curl_long(CURL *_Nonnull handle, CURLINFO info);
void *_Nullable baton_curl_private(CURL *_Nonnull handle);
/// Opens a socket for an address, and closes it on exec. The system accepts little more data than it can send at once,
/// so data that libcurl has passed to the socket has nearly been sent. Returns -1 and sets `errno` on failure.
///
/// The last 16 descriptors of the process's limit are not used, or the last eighth of a limit below 128: Dispatch ends
/// the process if it finds none, and other parts of the program need some as well.
curl_socket_t baton_curl_open(const struct curl_sockaddr *_Nonnull address);

/// Returns whether a socket is connected from a local port to an address and port. A socket that was reset counts if
/// the local port is the same.
int baton_curl_is_connection(curl_socket_t socket, int local_port, const char *_Nonnull peer, int peer_port);

/// Initializes libcurl for this process. It is called once, before any other function.
void baton_curl_initialize(void);

/// Returns the number of milliseconds since a TCP socket last received data, or -1 if that is not known.
long baton_curl_silence(curl_socket_t socket);

/// Returns the number of bytes that the peer of a TCP socket has acknowledged, or -1 if that is not known.
long long baton_curl_acknowledged(curl_socket_t socket);

/// Returns the number of bytes that a TCP socket has received, or -1 if that is not known.
long long baton_curl_received(curl_socket_t socket);

/// Returns the system's identity of a socket, which no other socket ever has, or 0 if it is not known.
uint64_t baton_curl_identity(curl_socket_t socket);

/// Ends the attempt of a TCP socket to connect, if the socket has this identity and its peer has not answered yet.
/// Returns whether it was ended. Polling the socket then reports an error.
int baton_curl_abandon(curl_socket_t socket, uint64_t identity);

/// Returns the number of bytes that a TCP socket has received and that have been read, or -1 if that is not known.
long long baton_curl_read_count(curl_socket_t socket);

/// Returns 1 if the two sides of a secure connection have agreed on HTTP/2 in the TLS handshake, 0 if they have not,
/// and -1 if that is not known. libcurl itself reports it only with the first header of a response.
int baton_curl_speaks_http2(CURL *_Nonnull handle);

/// Returns whether the transfer of a handle has a connection with TLS. Returns 0 from its end on.
int baton_curl_has_tls(CURL *_Nonnull handle);

/// Returns whether OpenSSL has read more from the socket of the handle's connection than libcurl has taken. Returns 0
/// also if that is not known.
int baton_curl_has_read_more(CURL *_Nonnull handle);

/// Returns whether a socket has bytes to read, or has been closed by its peer.
int baton_curl_is_readable(curl_socket_t socket);

/// Returns whether the peer of a socket has closed or reset it. There may still be bytes to read.
int baton_curl_is_closed(curl_socket_t socket);

/// Replaces a socket with one end of a socket pair, which accepts data and from which only the end of the stream can be
/// read. The former socket is closed. Returns the other end, which the caller closes after the socket. On failure, for
/// example if no descriptor is available, returns -1 and leaves the socket as it is.
int baton_curl_mute(curl_socket_t socket);

CURLMcode baton_curl_multi_set_long(CURLM *_Nonnull multi, CURLMoption option, long value);

/// Makes a share for the cookies of handles that one thread uses.
CURLSH *_Nullable baton_curl_cookie_share(void);

/// Returns the number of bytes that the longest cookie of a handle takes in a request, or all of its cookies together.
/// The time grows with the number of cookies.
size_t baton_curl_cookie_length(CURL *_Nonnull handle, int all);

/// Returns the next transfer that has ended, and stores its result in `result`. Returns null if there is none.
CURL *_Nullable baton_curl_next_ended(CURLM *_Nonnull multi, CURLcode *_Nonnull result);

/// The values of macros, which Swift does not import.
enum {
    baton_curl_write_pause = CURL_WRITEFUNC_PAUSE,
    baton_curl_read_pause = CURL_READFUNC_PAUSE,
    baton_curl_read_abort = CURL_READFUNC_ABORT,
    baton_curl_error_size = CURL_ERROR_SIZE,
    /// An option of TLS that only Schannel knows.
    baton_curl_no_effect_on_tls = CURLSSLOPT_REVOKE_BEST_EFFORT
};

#endif
