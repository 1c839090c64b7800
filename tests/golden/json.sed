s/"devices"/"device"/
s/"nodes"/"node"/
s/"edges"/"edge"/
s/"links"/"link"/
s/"name": "a"/"name": "b"/
s/"name": "a"/"name": 3/
s/"name": "a"/"name": ""/
s/"mem_bytes": 1000/"mem_bytes": -1/
s/"mem_bytes": 1000/"mem_bytes": 1e400/
s/"mem_bytes": 1000/"mem_bytes": "1"/
s/"mem_bytes": 1000/"mem_bytes": 99999999999999999999999/
s/"latency_s": 1/"latency_s": -1/
s/"latency_s": 1/"latency": 1/
s/"bytes_per_s": 10/"bytes_per_s": 0/
s/"dst": "\*"/"dst": "q"/
s/"id": 7/"id": 8/
s/"id": 7/"id": 7.5/
s/"id": 7/"id": null/
s/"id": 7/"ident": 7/
s/"cost_s": 4/"cost_s": -4/
s/"cost_s": 4/"cost_s": {}/
s/"cost_s": 4/"cost_s": {"q": 1}/
s/"cost_s": 4/"cost_s": [1]/
s/"cost_s": 4/"cost_s": "4"/
s/"allowed": \["b"\]/"allowed": ["q"]/
s/"allowed": \["b"\]/"allowed": []/
s/"allowed": \["b"\]/"allowed": "b"/
s/"src": "first"/"src": "last"/
s/"src": "first", "dst": "z"/"src": "z", "dst": "z"/
s/"src": "first", "dst": "z"/"src": 8, "dst": "z"/
s/"bytes": 50/"bytes": -50/
s/"bytes": 50/"bytes": "50"/
s/"allowed": \["b"\]/"colocate": "c", "allowed": ["b"]/
s/"name": "small"/"name": 7/
s/"name": "small"/"options": {"order": "none"}/
s/"name": "small"/"options": {"contention": 1}/
s/"name": "small"/"options": {"contention": true, "overlap": false, "order": "fifo"}/
s/"watts": 10/"watts": -10/
s/"watts": 10, //
s/{"name"/{"name": "again", "name"/
s/]}/]/
s/"small"/"small/
